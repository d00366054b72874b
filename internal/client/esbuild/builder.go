package esbuild

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/svcctl/svcctl/internal/bundle"
)

// builder is one build. The maps are filled while esbuild resolves, under mu.
type builder struct {
	req        Request
	rules      rules
	support    nodeSupport
	main       string            // name of the entry module
	additional map[string]string // file to module name, found before bundling

	mu        sync.Mutex
	used      map[string]bool            // modules of Node
	missing   map[string]map[string]bool // modules of Node that the worker does not have, with the files that import them
	collected map[string]Module          // by name
	files     map[string]bool            // of collected modules
}

func newBuilder(req Request) *builder {
	req.BaseDir = cmp.Or(req.BaseDir, filepath.Dir(req.Entry))
	return &builder{
		req: req, rules: compileRules(req.Rules), support: supportOf(req.CompatibilityDate, req.CompatibilityFlags),
		main: mainName(req), additional: map[string]string{},
		used: map[string]bool{}, missing: map[string]map[string]bool{}, collected: map[string]Module{}, files: map[string]bool{},
	}
}

// reset forgets what the build before has found.
func (b *builder) reset() {
	clear(b.additional)
	clear(b.used)
	clear(b.missing)
	clear(b.collected)
	clear(b.files)
}

// mainName names the entry module: by its path below the base directory when
// other files keep theirs, so that they find each other; else by its base name.
func mainName(req Request) string {
	name := filepath.Base(req.Entry)
	if rel, ok := below(req.BaseDir, req.Entry); ok && (req.FindAdditional || req.NoBundle) {
		name = rel
	}
	if req.NoBundle {
		return name
	}
	return strings.TrimSuffix(name, path.Ext(name)) + ".js"
}

// below gives the slash path of file relative to dir, if it is inside.
func below(dir, file string) (string, bool) {
	rel, err := filepath.Rel(dir, file)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

func (b *builder) use(module string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used[module] = true
}

// collect makes a module of a file and gives its name, which holds a part of
// the content's hash: equal names are equal files, wherever they came from.
func (b *builder) collect(file string, kind bundle.ModuleType) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading a module: %w", err)
	}
	sum := sha256.Sum256(content)
	name := hex.EncodeToString(sum[:8]) + "-" + plain(filepath.Base(file))
	if rel, ok := below(b.req.BaseDir, file); ok && b.req.PreserveNames {
		name = rel
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.collected[name] = Module{Name: name, Type: kind, Content: content}
	b.files[file] = true
	return name, nil
}

// plain keeps the letters of a file name that need no thought anywhere.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
}

// fromMain is how the entry module imports a module.
func (b *builder) fromMain(name string) string {
	rel, err := filepath.Rel(filepath.Dir(filepath.FromSlash(b.main)), filepath.FromSlash(name))
	if err != nil {
		return "./" + name
	}
	rel = filepath.ToSlash(rel)
	if strings.HasPrefix(rel, "../") {
		return rel
	}
	return "./" + rel
}

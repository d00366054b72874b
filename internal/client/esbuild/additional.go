package esbuild

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
)

// findAdditional collects the files below the base directory that a rule names,
// with their paths as names. Directories that hold no sources are passed over.
func (b *builder) findAdditional() error {
	passOver := []string{"node_modules", ".git", ".wrangler"}
	return filepath.WalkDir(b.req.BaseDir, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("looking for modules: %w", err)
		case e.IsDir() && slices.Contains(passOver, e.Name()):
			return filepath.SkipDir
		case !isFile(file, e) || file == b.req.Entry || b.req.Modules == nil && isProjectFile(e.Name()):
			return nil
		}
		name, _ := below(b.req.BaseDir, file)
		kind := b.kindOf(name)
		if kind == "" || name == b.main {
			return nil
		}
		content, err := os.ReadFile(file) //nolint:gosec // below the project's base directory
		if err != nil {
			return fmt.Errorf("reading a module: %w", err)
		}
		m := Module{Name: name, Type: kind, Content: content}
		if b.req.SourceMaps && isScript(kind) {
			m.SourceMap = sourceMapBeside(file, content)
		}
		b.additional[file] = name
		b.collected[name] = m
		b.files[file] = true
		return nil
	})
}

// kindOf is the type of the module of a file; "" for none.
func (b *builder) kindOf(name string) bundle.ModuleType {
	if b.req.Modules != nil {
		return b.req.Modules[name]
	}
	return b.rules.forFile(name)
}

// isFile reports whether an entry is a plain file, or a link to one.
func isFile(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isProjectFile(name string) bool {
	return strings.HasPrefix(name, "wrangler.")
}

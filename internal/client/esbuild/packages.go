package esbuild

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// installed is a package that is there although an import of it cannot be resolved.
type installed struct {
	dir     string // as people in the project's directory name it
	scripts map[string]string
}

// packageOf finds the package that an import of the message m names, from the file that imports it
// upwards; false for none. dir is the directory that the files of messages are relative to.
func packageOf(dir string, m api.Message, path string) (installed, bool) {
	name := packageName(path)
	if name == "" || m.Location == nil {
		return installed{}, false
	}
	for at := filepath.Dir(filepath.Join(dir, m.Location.File)); ; at = filepath.Dir(at) {
		home := filepath.Join(at, "node_modules", filepath.FromSlash(name))
		if data, err := os.ReadFile(filepath.Join(home, "package.json")); err == nil {
			var p struct {
				Scripts map[string]string `json:"scripts"`
			}
			_ = json.Unmarshal(data, &p) // one that cannot be read has no scripts
			return installed{shownDir(dir, home), p.Scripts}, true
		}
		if at == filepath.Dir(at) {
			return installed{}, false
		}
	}
}

// packageName is the name of the package that an import names; "" for a file.
func packageName(path string) string {
	parts := strings.SplitN(path, "/", 3)
	switch {
	case strings.HasPrefix(path, ".") || strings.HasPrefix(path, "/") || path == "":
		return ""
	case !strings.HasPrefix(path, "@"):
		return parts[0]
	case len(parts) > 1:
		return parts[0] + "/" + parts[1]
	}
	return ""
}

// shownDir is where a package is: in a workspace, node_modules has a link to its sources.
func shownDir(dir, home string) string {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	if from, err := filepath.EvalSymlinks(dir); err == nil {
		dir = from
	}
	if rel, err := filepath.Rel(dir, home); err == nil {
		return filepath.ToSlash(rel)
	}
	return home
}

// notes are those of esbuild that are about the package.json. The others are for its own users.
func (installed) notes(m api.Message) (kept []api.Note) {
	for _, n := range m.Notes {
		if n.Location != nil {
			kept = append(kept, n)
		}
	}
	return kept
}

// advice is what to do about the package; "" where the notes say all: it does not export the path.
func (p installed) advice(m api.Message) string {
	about := p.notes(m)
	absent := func(n api.Note) bool { return strings.Contains(n.Text, "was not found on the file system") }
	switch {
	case len(about) > 0 && !slices.ContainsFunc(about, absent):
		return ""
	case p.scripts["build"] != "":
		return fmt.Sprintf("the package is installed, and is not built: run npm run build in %s", p.dir)
	}
	return fmt.Sprintf("the package is installed in %s, and lacks the file: build the package, or install it again", p.dir)
}

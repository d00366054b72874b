package archtest_test

import (
	_ "embed"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

//go:embed imports.txt
var table string

const module = "github.com/svcctl/svcctl/"

// TestImports fails for an import that the table does not allow, for one that
// it allows and no import uses, and for packages that only one side knows.
func TestImports(t *testing.T) {
	t.Parallel()
	allowed := parseTable(t, table)
	actual := readImports(t, os.DirFS("../../.."))
	for _, pkg := range slices.Sorted(maps.Keys(actual)) {
		want, ok := allowed[pkg]
		if !ok {
			t.Errorf("imports.txt lacks: %s: %s", pkg, strings.Join(slices.Sorted(maps.Keys(actual[pkg])), " "))
			continue
		}
		for imp, file := range actual[pkg] {
			if !slices.Contains(want, imp) {
				t.Errorf("%s: %s may not import %s", file, pkg, imp)
			}
		}
		for _, imp := range want {
			if _, used := actual[pkg][imp]; !used {
				t.Errorf("imports.txt lets %s import %s, but it does not", pkg, imp)
			}
		}
	}
	for pkg := range allowed {
		if actual[pkg] == nil {
			t.Errorf("imports.txt names %s, which is not in the module", pkg)
		}
	}
}

func parseTable(t *testing.T, s string) map[string][]string {
	t.Helper()
	allowed := map[string][]string{}
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' || strings.Contains(line, "->") {
			continue
		}
		pkg, imports, _ := strings.Cut(line, ":")
		if _, twice := allowed[pkg]; twice {
			t.Errorf("imports.txt names %s twice", pkg)
		}
		allowed[pkg] = strings.Fields(imports)
	}
	return allowed
}

// readImports maps package to import to a file that has it. It parses, rather
// than running the go command, so that the test cache sees the files.
func readImports(t *testing.T, fsys fs.FS) map[string]map[string]string {
	t.Helper()
	pkgs := map[string]map[string]string{}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enter(fsys, p)
		case path.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		dir := path.Dir(p)
		if pkgs[dir] == nil {
			pkgs[dir] = map[string]string{}
		}
		return addImports(fsys, p, pkgs[dir])
	})
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

// enter skips directories that hold no package of this module.
func enter(fsys fs.FS, dir string) error {
	name := path.Base(dir)
	if dir == "." {
		return nil
	}
	if name[0] == '.' || name[0] == '_' || name == "testdata" || name == "node_modules" {
		return fs.SkipDir
	}
	if _, err := fs.Stat(fsys, path.Join(dir, "go.mod")); err == nil {
		return fs.SkipDir // a module of its own
	}
	return nil
}

func addImports(fsys fs.FS, file string, imports map[string]string) error {
	src, err := fs.ReadFile(fsys, file)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ImportsOnly)
	if err != nil {
		return err
	}
	for _, spec := range f.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if rel, ok := strings.CutPrefix(imp, module); ok {
			imports[rel] = file
		}
	}
	return nil
}

package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// TestLeaksAreLookedFor fails for a package with tests that starts goroutines and
// has no TestMain that looks for those that are left (svctest.Main).
func TestLeaksAreLookedFor(t *testing.T) {
	t.Parallel()
	starts, tests, looks := map[string]bool{}, map[string]bool{}, map[string]bool{}
	top := os.DirFS("../../..")
	err := fs.WalkDir(top, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enter(top, p)
		case path.Ext(p) != ".go":
			return nil
		}
		src, err := fs.ReadFile(top, p)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, src, 0)
		if err != nil {
			return err
		}
		pkg := path.Dir(p)
		if !strings.HasSuffix(p, "_test.go") {
			starts[pkg] = starts[pkg] || startsGoroutines(file)
			return nil
		}
		tests[pkg] = true
		looks[pkg] = looks[pkg] || strings.Contains(string(src), "test.Main(m")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range starts {
		if starts[pkg] && tests[pkg] && !looks[pkg] {
			t.Errorf("%s starts goroutines: its tests need func TestMain(m *testing.M) { svctest.Main(m, nil) }", pkg)
		}
	}
}

// startsGoroutines reports whether a file has a go statement, or calls a method
// named Go, as wait groups and error groups have.
func startsGoroutines(file *ast.File) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			selector, ok := n.Fun.(*ast.SelectorExpr)
			found = found || ok && selector.Sel.Name == "Go"
		}
		return true
	})
	return found
}

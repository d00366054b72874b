package archtest_test

import (
	"go/ast"
	"path"
	"strings"
	"testing"
)

// TestLeaksAreLookedFor fails for a package with tests that starts goroutines and
// has no TestMain that looks for those that are left (svctest.Main).
func TestLeaksAreLookedFor(t *testing.T) {
	t.Parallel()
	starts, tests, looks := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, src := range sources(t) {
		pkg := path.Dir(src.file)
		if !src.isTest() {
			starts[pkg] = starts[pkg] || startsGoroutines(src.File)
			continue
		}
		tests[pkg] = true
		looks[pkg] = looks[pkg] || strings.Contains(src.text, "test.Main(m")
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

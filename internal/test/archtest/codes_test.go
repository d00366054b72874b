package archtest_test

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// codeRules checks that error codes are written once: as a constant of package
// svc with a row in its table. pkg/client may import nothing of internal: its
// constants named code… repeat codes of the table.
type codeRules struct {
	*testing.T
	known  map[string]svc.CodeInfo
	consts map[string]string // of package svc: Code… to value
	used   map[string]bool   // names of those that code outside the table uses
	file   string
}

// TestCodes fails for a literal where a code is expected, for a kind that the
// table does not give a code, for a constant without a row, for one that nothing
// uses, and for a decision by the text of an error.
func TestCodes(t *testing.T) {
	t.Parallel()
	r := codeRules{T: t, known: map[string]svc.CodeInfo{}, consts: map[string]string{}, used: map[string]bool{}}
	for _, c := range svc.Codes() {
		r.known[c.Code] = c
	}
	files := map[string]*ast.File{}
	for _, src := range sources(t) {
		if !src.isTest() && !ast.IsGenerated(src.File) {
			files[src.file] = src.File
		}
	}
	for name, f := range files {
		if isTable(name) {
			ast.Inspect(f, r.declare)
		}
	}
	for r.file = range files {
		if !isTable(r.file) {
			ast.Inspect(files[r.file], r.check)
		}
	}
	for name, code := range r.consts {
		if _, ok := r.known[code]; !ok {
			t.Errorf("svc.%s has no row in the table", name)
		}
		if !r.used[name] {
			t.Errorf("nothing uses svc.%s", name)
		}
	}
}

func isTable(file string) bool { return strings.HasPrefix(file, "internal/svc/codes_") }

func (r *codeRules) declare(n ast.Node) bool {
	if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
		if code, ok := literal(spec.Values[0]); ok {
			r.consts[spec.Names[0].Name] = code
		}
	}
	return true
}

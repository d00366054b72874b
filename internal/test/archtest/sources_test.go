package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
)

// source is a Go file of the module.
type source struct {
	file string // below the top of the module
	text string
	*ast.File
}

func (s source) isTest() bool { return strings.HasSuffix(s.file, "_test.go") }

// positions is where all sources are.
var positions = token.NewFileSet()

// sources gives all Go files of the module, tests included. They are parsed once for all tests,
// which only read them.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parseOnce()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var parseOnce = sync.OnceValues(func() (all []source, err error) {
	top := os.DirFS("../../..")
	err = fs.WalkDir(top, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enter(top, p)
		case path.Ext(p) != ".go":
			return nil
		}
		text, err := fs.ReadFile(top, p)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(positions, p, text, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, source{p, string(text), file})
		return err
	})
	return all, err
})

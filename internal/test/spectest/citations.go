package spectest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A Citation is a place that names a clause.
type Citation struct {
	ID   string // "C8.5" or "D19"; "" for a "spec:" that no citation follows
	File string // path below the top of the repository
	Line int
	Func string // the function that the comment documents or stands in; "" outside of Go and of functions
	Spec bool   // it follows the word "spec:"
}

// InTest reports whether the citation says what a test shows: it follows "spec:"
// and stands in a test file, a package of tests or a script.
func (c Citation) InTest() bool {
	return c.Spec && (strings.HasSuffix(c.File, "_test.go") || path.Ext(c.File) == ".txtar" ||
		strings.HasSuffix(path.Dir(c.File), "test"))
}

var (
	citation = regexp.MustCompile(`\[(C\d+\.\d+|D\d+)\]`)
	marked   = regexp.MustCompile(`\bspec:\s((?:[\s,;]*\[(?:C\d+\.\d+|D\d+)\])*)`)
)

// Citations finds the citations of all files below top, sorted by file and line.
func Citations(top fs.FS) ([]Citation, error) {
	var all []Citation
	err := fs.WalkDir(top, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enter(file)
		case !written(path.Ext(file)):
			return nil
		}
		found, err := inFile(top, file)
		all = append(all, found...)
		return err
	})
	return all, err
}

// enter skips directories that hold nothing of the project's own.
func enter(dir string) error {
	name := path.Base(dir)
	if dir != "." && name[0] == '.' || slices.Contains([]string{"node_modules", "bin", "dist"}, name) {
		return fs.SkipDir
	}
	return nil
}

// written reports whether files with this ending are written by people, or for them.
func written(ext string) bool {
	switch ext {
	case ".go", ".md", ".txtar", ".sql", ".yaml", ".yml", ".json", ".js", ".ts", ".txt", ".1":
		return true
	}
	return false
}

func inFile(top fs.FS, file string) ([]Citation, error) {
	text, err := fs.ReadFile(top, file)
	if err != nil || !citation.Match(text) && !bytes.Contains(text, []byte("spec:")) {
		return nil, err
	}
	if path.Ext(file) == ".go" {
		return inGo(file, text)
	}
	found := inText(string(text), file, 1)
	// Only in scripts is the word a mark: elsewhere it may be a key.
	if path.Ext(file) != ".txtar" {
		found = slices.DeleteFunc(found, func(c Citation) bool { return c.ID == "" })
	}
	return found, nil
}

// inGo finds the citations in comments.
func inGo(file string, src []byte) ([]Citation, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []Citation
	for _, group := range f.Comments {
		var text strings.Builder
		for _, c := range group.List {
			text.WriteString(strings.TrimPrefix(c.Text, "//") + "\n")
		}
		for _, c := range inText(text.String(), file, fset.Position(group.Pos()).Line) {
			c.Func = around(f, group)
			all = append(all, c)
		}
	}
	return all, nil
}

// around is the name of the function that a comment documents or stands in.
func around(f *ast.File, group *ast.CommentGroup) string {
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if ok && (fn.Doc == group || fn.Pos() <= group.Pos() && group.End() <= fn.End()) {
			return fn.Name.Name
		}
	}
	return ""
}

// inText finds the citations of a text whose first line has the given number.
func inText(text, file string, first int) []Citation {
	at := func(pos int) Citation {
		return Citation{File: file, Line: first + strings.Count(text[:pos], "\n")}
	}
	marks := marked.FindAllStringSubmatchIndex(text, -1)
	var all []Citation
	for _, m := range marks {
		if m[2] == m[3] {
			all = append(all, at(m[0]))
		}
	}
	for _, m := range citation.FindAllStringSubmatchIndex(text, -1) {
		c := at(m[0])
		c.ID = text[m[2]:m[3]]
		c.Spec = slices.ContainsFunc(marks, func(mark []int) bool { return mark[2] <= m[0] && m[0] < mark[3] })
		all = append(all, c)
	}
	return all
}

package httpapi_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// namedCode is a code that the documentation of an SDK's method names.
type namedCode struct {
	method     string   // of the SDK; "data" for a code that all methods share that read data
	operations []string // that the method calls; none for any
	code       string
}

func (n namedCode) String() string { return n.method + " " + n.code }

// met reports whether a test has met the code in one of the operations.
func (n namedCode) met() bool {
	seen.Lock()
	defer seen.Unlock()
	if len(n.operations) == 0 {
		for pair := range seen.pairs {
			if strings.HasSuffix(pair, " "+n.code) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(n.operations, func(op string) bool { return seen.pairs[op+" "+n.code] })
}

// dataCodes are those of the methods that read or change data.
var dataCodes = []string{
	"version_not_found", "version_destroyed", "version_archived", "version_failed", "version_not_ready", "runtime_unavailable",
	"shutting_down", "not_durable", "data_behind",
}

// namedCodes reads the documentation of the SDK.
func namedCodes() (all []namedCode, err error) {
	for _, code := range dataCodes {
		all = append(all, namedCode{method: "data", code: code})
	}
	files, err := filepath.Glob("../../../pkg/client/*.go")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Doc != nil && f.Recv != nil {
				all = append(all, codesOf(f)...)
			}
		}
	}
	return all, nil
}

var codePattern = regexp.MustCompile(`\b[a-z]+(_[a-z0-9]+)+\b`)

// codesOf returns the codes of a method that calls an operation itself.
func codesOf(f *ast.FuncDecl) (list []namedCode) {
	_, codes, found := strings.Cut(f.Doc.Text(), "\nCodes: ")
	calls := operationsOf(f.Body)
	if !found || len(calls) == 0 {
		return nil
	}
	for _, code := range codePattern.FindAllString(codes, -1) {
		list = append(list, namedCode{method: f.Name.Name, operations: calls, code: code})
	}
	return list
}

// operationsOf returns the operations in calls like c.raw.CreateVersion or c.slow.ArchiveVersion.
func operationsOf(body *ast.BlockStmt) (list []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := call.X.(*ast.SelectorExpr); ok && (of.Sel.Name == "raw" || of.Sel.Name == "slow") {
			name := strings.TrimSuffix(call.Sel.Name, "WithBody")
			list = append(list, strings.ToLower(name[:1])+name[1:])
		}
		return true
	})
	return list
}

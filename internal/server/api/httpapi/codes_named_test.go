package httpapi_test

import (
	"fmt"
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

// namedCodes reads the documentation of the SDK. known has the operations by their methods and paths.
func namedCodes(known map[string]string) (all []namedCode, err error) {
	for _, code := range dataCodes {
		all = append(all, namedCode{method: "data", code: code})
	}
	files, err := filepath.Glob("../../../../pkg/client/*.go")
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
				named, err := codesOf(f, known)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", f.Name.Name, err)
				}
				all = append(all, named...)
			}
		}
	}
	return all, nil
}

var codePattern = regexp.MustCompile(`\b[a-z]+(_[a-z0-9]+)+\b`)

// codesOf returns the codes of a method that calls an operation itself.
func codesOf(f *ast.FuncDecl, known map[string]string) (list []namedCode, err error) {
	_, codes, found := strings.Cut(f.Doc.Text(), "\nCodes: ")
	calls, err := operationsOf(f.Body, known)
	if !found || len(calls) == 0 || err != nil {
		return nil, err
	}
	for _, code := range codePattern.FindAllString(codes, -1) {
		list = append(list, namedCode{method: f.Name.Name, operations: calls, code: code})
	}
	return list, nil
}

// methodOf has the HTTP methods of the functions of the SDK that make requests.
var methodOf = map[string]string{"get": "GET", "post": "POST", "put": "PUT", "patch": "PATCH", "remove": "DELETE"}

// operationsOf returns the operations of requests like get(ofVersion+"/env", project, version).
func operationsOf(body *ast.BlockStmt, known map[string]string) (list []string, err error) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if name, ok := call.Fun.(*ast.Ident); ok && methodOf[name.Name] != "" {
			request := methodOf[name.Name] + " " + pathOf(call.Args[0])
			if known[request] == "" {
				err = fmt.Errorf("the OpenAPI document has no %s", request)
			}
			list = append(list, known[request])
		}
		return true
	})
	return list, err
}

// pathOf is the path that an expression says; ofVersion is the only name in one.
func pathOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return pathOf(e.X) + pathOf(e.Y)
	case *ast.BasicLit:
		return strings.Trim(e.Value, `"`)
	default:
		return "/projects/{project}/versions/{version}"
	}
}

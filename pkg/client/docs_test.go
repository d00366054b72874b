package client_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// noCodes are the methods without a refusal of their own.
var noCodes = []string{"AllProjects", "DeepHealth", "Health", "MetricsSummary", "DeployQueue", "ServerInfo", "Projects", "ProjectSummaries", "AllProjectSummaries", "Whoami", "Certificates", "Nodes", "Gateways", "Checkup", "Retention", "ApplyRetention", "DashboardTicket", "Routes", "ProjectRoutes", "Webhooks", "Server", "WithTicket", "ForWorker"}

// TestMethodsNameTheirCodes holds the documentation to its promise: each method
// names the codes of its refusals, which exist.
func TestMethodsNameTheirCodes(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, c := range svc.Codes() {
		known[c.Code] = true
	}
	methods := methodDocs(t)
	if len(methods) < 40 {
		t.Errorf("found %d methods only", len(methods))
	}
	for name, doc := range methods {
		_, codes, found := strings.Cut(doc, "\nCodes: ")
		if found == slices.Contains(noCodes, name) || found && !strings.HasSuffix(codes, ".\n") {
			t.Errorf("%s: %q", name, doc)
		}
		for _, code := range regexp.MustCompile(`\w+_\w+`).FindAllString(codes, -1) {
			if !known[code] {
				t.Errorf("%s: unknown code %s", name, code)
			}
		}
	}
}

// methodDocs are the comments of Client's exported methods by their names.
func methodDocs(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string]string{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.IsExported() && isClient(f.Recv.List[0].Type) {
				docs[f.Name.Name] = f.Doc.Text()
			}
		}
	}
	return docs
}

func isClient(e ast.Expr) bool {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	id, ok := star.X.(*ast.Ident)
	return ok && id.Name == "Client"
}

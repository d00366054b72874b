package daemon

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// rule matches what the rules of versions, projects and tokens are made of.
var rule = regexp.MustCompile(`^(Status|Production|Prod|Role)`)

// TestNoRules: the daemon connects services and decides nothing. It uses no constant of a status or a role, and
// compares neither those nor which version is production. The types and the fields that it passes on are free.
func TestNoRules(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, e.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if word := ruleIn(n); word != "" {
				t.Errorf("%s: %s is a rule: move it to the service that it belongs to", files.Position(n.Pos()), word)
			}
			return true
		})
	}
}

// ruleIn returns the word of a rule in a node: a constant such as svc.StatusReady, or an operand of a comparison or
// the tag of a switch.
func ruleIn(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok && x.Name == "svc" && rule.MatchString(n.Sel.Name) && n.Sel.Name != "Status" && n.Sel.Name != "Role" {
			return "svc." + n.Sel.Name
		}
	case *ast.BinaryExpr:
		if word := field(n.X); word != "" {
			return word
		}
		return field(n.Y)
	case *ast.SwitchStmt:
		return field(n.Tag)
	}
	return ""
}

// field is the name of a field of a rule, "" for another expression.
func field(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok && rule.MatchString(s.Sel.Name) {
		return s.Sel.Name
	}
	return ""
}

// TestRuleIn: what TestNoRules finds.
func TestRuleIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"svc.StatusReady": "svc.StatusReady", "svc.RoleGateway": "svc.RoleGateway", "v.Status == s": "Status", "p.ProdVersionID != id": "ProdVersionID",
		"svc.Status": "", "svc.Role": "", "o.Status": "", "f(o.Role)": "", "d.cfg.Sleep.Production": "", "a == b": "",
	} {
		e, err := parser.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := ruleIn(e); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

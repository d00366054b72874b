package archtest_test

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/binding/kinds"
)

// TestKindNames fails where the name of a binding kind is written out: binding/kinds
// has the constants.
func TestKindNames(t *testing.T) {
	t.Parallel()
	for _, src := range sources(t) {
		if src.isTest() || strings.HasPrefix(src.file, "internal/host/binding/kinds/") {
			continue
		}
		ast.Inspect(src.File, func(n ast.Node) bool {
			if name := kindLiteral(n); name != "" {
				t.Errorf("%s: use a constant of binding/kinds in place of %q", positions.Position(n.Pos()), name)
			}
			return true
		})
	}
}

// kindLiteral is the kind that is written out at n: as the field or the variable of
// a kind, or as what Name returns; "" for none.
func kindLiteral(n ast.Node) string {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if isKind(n.Key) {
			return kindName(n.Value)
		}
	case *ast.BinaryExpr:
		if isKind(n.X) {
			return kindName(n.Y)
		}
	case *ast.FuncDecl:
		if n.Name.Name != "Name" || n.Body == nil || len(n.Body.List) != 1 {
			return ""
		}
		if r, ok := n.Body.List[0].(*ast.ReturnStmt); ok && len(r.Results) == 1 {
			return kindName(r.Results[0])
		}
	}
	return ""
}

// isKind reports whether an expression is called Kind.
func isKind(e ast.Expr) bool {
	if s, ok := e.(*ast.SelectorExpr); ok {
		return s.Sel.Name == "Kind"
	}
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "Kind"
}

func kindName(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	name, err := strconv.Unquote(lit.Value)
	if _, known := kinds.Named(name); err != nil || !known {
		return ""
	}
	return name
}

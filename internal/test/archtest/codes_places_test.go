package archtest_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// matchers are the functions of package strings that look for a text.
var matchers = []string{"Contains", "Cut", "CutPrefix", "CutSuffix", "HasPrefix", "HasSuffix", "Index", "Split"}

// foreignTexts are files that may look into the text of an error, for no other
// part of it says the same.
var foreignTexts = map[string]string{"pkg/client/answer.go": "net/http: which time limit ended a request"}

// checkText fails for a decision by the text of an error: that is for people.
func (r *codeRules) checkText(call *ast.CallExpr) {
	if !slices.Contains(matchers, name(call.Fun)) || len(call.Args) < 2 || foreignTexts[r.file] != "" {
		return
	}
	text := name(call.Args[0])
	if of, ok := call.Args[0].(*ast.CallExpr); ok {
		text = name(of.Fun)
	}
	if slices.Contains([]string{"Error", "Detail", "Hint", "LastError"}, text) {
		r.Errorf("%s: decide by a code or a field, not by the text of an error", positions.Position(call.Pos()))
	}
}

// check looks at every place where a code may stand.
func (r *codeRules) check(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Ident:
		r.used[n.Name] = true
	case *ast.BasicLit:
		if code, ok := literal(n); ok && strings.Contains(code, "_") && r.known[code].Code != "" && !r.stranger() {
			r.refuse(n, code)
		}
	case *ast.CallExpr:
		r.checkCall(n)
		r.checkText(n)
	case *ast.KeyValueExpr:
		if name(n.Key) == "Code" {
			r.forbid(n.Value)
		}
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if i < len(n.Rhs) && holdsCode(to) {
				r.forbid(n.Rhs[i])
			}
		}
	case *ast.ValueSpec:
		if len(n.Values) == 1 && holdsCode(n.Names[0]) {
			r.checkConstant(n.Values[0])
		}
	case *ast.BinaryExpr:
		if (n.Op == token.EQL || n.Op == token.NEQ) && holdsCode(n.X) {
			r.forbid(n.Y)
		}
	case *ast.SwitchStmt:
		if n.Tag != nil && holdsCode(n.Tag) {
			for _, s := range n.Body.List {
				if c, ok := s.(*ast.CaseClause); ok {
					r.forbid(c.List...)
				}
			}
		}
	}
	return true
}

// checkCall looks at Errorf(kind, code, …).
func (r *codeRules) checkCall(call *ast.CallExpr) {
	if name(call.Fun) != "Errorf" || len(call.Args) < 3 {
		return
	}
	r.forbid(call.Args[1])
	code, kind := name(call.Args[1]), name(call.Args[0])
	if info, ok := r.known[r.consts[code]]; ok && !slices.ContainsFunc(info.Kinds, func(k svc.Kind) bool { return goName(k) == kind }) {
		r.Errorf("%s: the table does not give svc.%s the kind %s", positions.Position(call.Pos()), code, kind)
	}
}

func (r *codeRules) stranger() bool { return strings.HasPrefix(r.file, "pkg/") }

// checkConstant lets pkg/client name a code of the table, and nothing else.
func (r *codeRules) checkConstant(value ast.Expr) {
	if code, ok := literal(value); ok && (!r.stranger() || r.known[code].Code == "") {
		r.refuse(value, code)
	}
}

func (r *codeRules) forbid(list ...ast.Expr) {
	for _, e := range list {
		if code, ok := literal(e); ok && code != "" {
			r.refuse(e, code)
		}
	}
}

func (r *codeRules) refuse(n ast.Node, code string) {
	r.Errorf("%s: write the constant of package svc for the code %q", positions.Position(n.Pos()), code)
}

var codeName = regexp.MustCompile(`^[cC]ode([A-Z].*)?$`)

// holdsCode reports whether e is an error's code by its name: e.Code, CodeOf(err).
func holdsCode(e ast.Expr) bool {
	if call, ok := e.(*ast.CallExpr); ok {
		return name(call.Fun) == "CodeOf"
	}
	return codeName.MatchString(name(e))
}

// name is the last part of an identifier; "" for other expressions.
func name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}

// goName is the name of a kind's constant: "not found" is NotFound.
func goName(k svc.Kind) string {
	if k == svc.Precondition {
		return "Precondition"
	}
	var b strings.Builder
	for word := range strings.FieldsSeq(string(k)) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

package workerhost

import (
	"maps"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// variables are the variables of a version as bindings, sorted by name: the
// bundle's, over them the overrides, which are text, and over all the
// platform's. spec: [C5.7].
//
// An override may replace a variable but not a resource: the worker would find
// a string where its code expects a database. A secret fills a name that nothing else has.
func variables(m *bundle.Manifest, s svc.RuntimeSpec) ([]workerd.Binding, error) {
	vars := map[string]bundle.Var{}
	for key, value := range svc.FillingSecrets(s.Secrets, m.Names) {
		if !isStored(m, key) {
			vars[key] = bundle.TextVar(value)
		}
	}
	maps.Copy(vars, m.Vars)
	for key, value := range s.Env {
		if !isStored(m, key) {
			vars[key] = bundle.TextVar(value)
		}
	}
	for key, value := range svc.PlatformEnv(s.Ref) {
		vars[key] = bundle.TextVar(value)
	}
	if err := checkShadows(m, vars); err != nil {
		return nil, err
	}
	out := make([]workerd.Binding, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		b := workerd.Binding{Name: name, Text: vars[name].Text}
		if b.Text == nil {
			text := string(vars[name].JSON)
			b.JSON = &text
		}
		out = append(out, b)
	}
	return out, nil
}

// isStored reports whether a variable is the value of a secret of the Secrets Store, which
// the worker gets by its binding alone.
func isStored(m *bundle.Manifest, name string) bool {
	return slices.ContainsFunc(m.Bindings, func(b bundle.Binding) bool { return b.Kind == kinds.StoreSecret && b.Resource == name })
}

func checkShadows(m *bundle.Manifest, vars map[string]bundle.Var) error {
	var bad []svc.FieldError
	for _, b := range m.Bindings {
		if _, shadows := vars[b.Name]; shadows {
			bad = append(bad, svc.FieldError{
				Pointer: "/env/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(b.Name), Code: svc.CodeEnvShadowsBinding,
				Detail: b.Name + " is a " + b.Kind + " binding of the bundle and cannot be a variable too",
			})
		}
	}
	return svc.Invalid(bad)
}

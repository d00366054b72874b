package bundle_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
)

func TestSameWorker(t *testing.T) {
	t.Parallel()
	sample := func(change func(*bundle.Manifest)) bundle.Manifest {
		m := bundle.Manifest{Main: "index.js", Modules: []bundle.Module{{Name: "index.js", SHA256: "aa"}}, Assets: &bundle.Assets{Binding: "ASSETS"}}
		change(&m)
		return m
	}
	for name, c := range map[string]struct {
		change func(*bundle.Manifest)
		same   bool
	}{
		"nothing":        {func(*bundle.Manifest) {}, true},
		"files":          {func(m *bundle.Manifest) { m.Assets.Files = []bundle.File{{Path: "assets/a"}} }, true},
		"rules":          {func(m *bundle.Manifest) { m.Assets.NotFoundHandling = bundle.NotFoundSPA }, true},
		"empty lists":    {func(m *bundle.Manifest) { m.Crons = []string{} }, true},
		"code":           {func(m *bundle.Manifest) { m.Modules[0].SHA256 = "bb" }, false},
		"a variable":     {func(m *bundle.Manifest) { m.Vars = map[string]bundle.Var{"A": bundle.TextVar("1")} }, false},
		"binding":        {func(m *bundle.Manifest) { m.Assets.Binding = "FILES" }, false},
		"without assets": {func(m *bundle.Manifest) { m.Assets = nil }, false},
	} {
		if got := bundle.SameWorker(sample(func(*bundle.Manifest) {}), sample(c.change)); got != c.same {
			t.Errorf("%s: %t", name, got)
		}
	}
}

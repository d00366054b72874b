package project_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestPreviews: the section previews holds over the rest of the file, and only if asked.
func TestPreviews(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{"wrangler.jsonc": `{
	"name": "shop", "main": "a.js", "compatibility_date": "2026-01-01", "minify": true,
	"vars": { "A": "top", "B": "top" }, "kv_namespaces": [{ "binding": "CACHE" }],
	"previews": { "vars": { "B": "preview" }, "minify": false, "compatibility_flags": ["nodejs_compat"] },
	"env": {
		"own": { "vars": { "A": "own" }, "previews": { "vars": { "C": "own preview" } } },
		"other": { "vars": { "A": "other" } },
		"wrong": { "previews": { "name": "x", "alias": {}, "previews": {} } }
	}
}`, "a.js": ""})
	for _, tc := range []struct {
		env      string
		previews bool
		vars     map[string]string
		minify   bool
		kv       int
	}{
		{"", false, map[string]string{"A": "top", "B": "top"}, true, 1},
		{"", true, map[string]string{"A": "top", "B": "preview"}, false, 1},
		{"own", true, map[string]string{"A": "own", "C": "own preview"}, true, 0},
		{"other", true, map[string]string{"A": "other", "B": "preview"}, false, 0},
		{"wrong", false, map[string]string{}, true, 0},
	} {
		f, _, err := project.Load(dir, project.Options{Env: tc.env, Previews: tc.previews})
		if err != nil {
			t.Fatal(err)
		}
		if f.Bundling.Minify != tc.minify || len(f.KV) != tc.kv || len(f.Vars) != len(tc.vars) || (len(f.CompatibilityFlags) == 1) != !tc.minify {
			t.Errorf("%s %v: %+v", tc.env, tc.previews, f)
		}
		for k, want := range tc.vars {
			if v := f.Vars[k]; v.Text == nil || *v.Text != want {
				t.Errorf("%s %v: %s is not %s", tc.env, tc.previews, k, want)
			}
		}
	}
	_, _, err := project.Load(dir, project.Options{Env: "wrong", Previews: true})
	if svc.CodeOf(err) != svc.CodeConfigInvalid || len(svc.AsError(err).Fields) != 3 {
		t.Errorf("%+v", err)
	}
}

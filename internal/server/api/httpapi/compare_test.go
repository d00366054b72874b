package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestBundleAndCompare: what a bundle has, what differs between two, and no value of a
// variable or a binding's configuration.
func TestBundleAndCompare(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	for id, env := range map[string]map[string]string{"v1": {"TOKEN": "hunter2", "SAME": "x"}, "v2": {"TOKEN": "hunter3", "SAME": "x", "NEW": "hunter4"}, "v3": nil} {
		h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: api.CreateVersion{ID: id, Env: env}}).want(202)
	}
	v1, v2 := svc.Ref{Project: "shop", Version: "v1"}, svc.Ref{Project: "shop", Version: "v2"}
	m := bundle.Manifest{
		SchemaVersion: bundle.SchemaVersion, Main: "a.js", Modules: []bundle.Module{{Name: "a.js", Type: bundle.ESModule, SHA256: "aa", Size: 5}},
		Vars:     map[string]bundle.Var{"GREETING": bundle.TextVar("hunter5")},
		Bindings: []bundle.Binding{{Name: "KV", Kind: "kv", Config: []byte(`{"secret":"hunter6"}`)}}, CompatibilityDate: "2026-01-01",
		Migrations: []bundle.Migrations{{Binding: "DB", Files: []bundle.File{{Path: "migrations/DB/1.sql", SHA256: "bb", Size: 1}}}},
		Assets:     &bundle.Assets{Files: []bundle.File{{Path: "assets/i.html", SHA256: "cc", Size: 2}}},
		Crons:      []string{"* * * * *"}, ObjectClasses: []bundle.ObjectClass{{Name: "Room", Key: "r"}, {Name: "Old", Key: "o", Deleted: true}},
	}
	changed := m
	changed.Modules = []bundle.Module{{Name: "a.js", Type: bundle.ESModule, SHA256: "dd", Size: 6}}
	changed.CompatibilityDate = "2026-02-02"
	h.fakes.bundles = map[svc.Ref]bundle.Manifest{v1: m, v2: changed}
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Bundle(t.Context(), "shop", "v1")
	if err != nil || b.Format != bundle.SchemaVersion || b.Modules[0].SHA256 != "aa" || b.Vars[0] != "GREETING" || b.Bindings[0].Kind != "kv" || b.ObjectClasses[0] != "Room" ||
		len(b.ObjectClasses) != 1 || b.Migrations[0].Path != "migrations/DB/1.sql" || b.Assets[0].SizeBytes != 2 || b.Crons[0] != "* * * * *" {
		t.Errorf("got %+v, %v", b, err)
	}
	diff, err := c.Compare(t.Context(), "shop", "v1", "v2")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range diff.Differences {
		got = append(got, fmt.Sprintf("%s %s %s: %s %d -> %s %d", d.What, d.Name, d.Change, d.Before, d.BeforeBytes, d.After, d.AfterBytes))
	}
	want := []string{
		"module a.js changed: esm 5 -> esm 6", "setting compatibility_date changed: 2026-01-01 0 -> 2026-02-02 0",
		"var NEW added:  0 -> override 0", "var TOKEN changed: override 0 -> override 0",
	}
	if d := cmp.Diff(want, got); d != "" || diff.SameBundle || diff.From.Files != 3 || diff.To.FileBytes != 9 {
		t.Errorf("%s%+v", d, diff)
	}
	for _, path := range []string{"/versions/v1/bundle", "/compare?from=v1&to=v2"} {
		if r := h.do(request{method: "GET", path: "/v1/projects/shop" + path}).want(200); strings.Contains(string(r.body), "hunter") {
			t.Errorf("%s shows a value: %s", path, r.body)
		}
	}
	h.do(request{method: "GET", path: "/v1/projects/shop/versions/v3/bundle"}).wantProblem(404, "artifact_missing")
	h.do(request{method: "GET", path: "/v1/projects/shop/compare?from=v1&to=v9"}).wantProblem(404, "version_not_found")
	h.do(request{method: "GET", path: "/v1/projects/shop/compare?from=v1", outside: true}).want(400)
}

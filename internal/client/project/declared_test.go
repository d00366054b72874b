package project_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestDeclared: what a manifest has of the bindings whose entries are simple.
func TestDeclared(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{"wrangler.jsonc": `{
		"main": "w.js", "compatibility_date": "2026-01-01",
		"ai": { "binding": "AI", "remote": true },
		"analytics_engine_datasets": [{ "binding": "VISITS", "dataset": "visits" }, { "binding": "SALES" }],
		"ratelimits": [{ "name": "FAST", "namespace_id": "1001", "simple": { "limit": 5, "period": 10 } }],
		"send_email": [{ "name": "ANY" }, { "name": "ONE", "destination_address": "a@b.c", "allowed_sender_addresses": ["d@e.f"] }],
		"hyperdrive": [{ "binding": "PG", "id": "a1", "localConnectionString": "postgres://u:p@localhost/x" }],
		"secrets_store_secrets": [{ "binding": "KEY", "store_id": "1", "secret_name": "API_KEY" }],
		"unsafe": { "bindings": [{ "name": "OLD", "type": "ratelimit", "namespace_id": 7, "simple": { "limit": 9, "period": 60 } }] }
	}`})
	f, _, err := project.Load(dir, project.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range f.Declared {
		got = append(got, fmt.Sprintf("%s %s %s %s %s %s", b.Key, b.Name, b.Kind, b.Resource, b.Config, b.Type))
	}
	if diff := cmp.Diff([]string{
		"ai AI ai   Ai",
		"analytics_engine_datasets VISITS analytics_engine visits  AnalyticsEngineDataset",
		"analytics_engine_datasets SALES analytics_engine SALES  AnalyticsEngineDataset",
		`ratelimits FAST rate_limit 1001 {"limit":5,"period":10} RateLimit`,
		`ratelimits OLD rate_limit 7 {"limit":9,"period":60} RateLimit`,
		"send_email ANY send_email ANY  SendEmail",
		`send_email ONE send_email ONE {"destinations":["a@b.c"],"senders":["d@e.f"]} SendEmail`,
		"hyperdrive PG hyperdrive a1  Hyperdrive",
		"secrets_store_secrets KEY store_secret API_KEY  SecretsStoreSecret",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// TestUnbuilt: a directory of assets that the build of Vite writes may be missing in a check,
// and a deploy says what to run.
func TestUnbuilt(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{
		"wrangler.jsonc": `{ "main": "w.js", "compatibility_date": "2026-01-01", "assets": { "binding": "ASSETS" } }`, "vite.config.ts": "",
	})
	f, notices, err := project.Load(dir, project.Options{Unbuilt: true})
	if err != nil || len(notices) != 2 || f.ToBuild != "npm run build" ||
		notices[0].String() != "wrangler.jsonc:1:65: assets.directory is what the build of the project writes: run npm run build before a deploy" ||
		notices[1].String() != "wrangler.jsonc:1:11: w.js is what the build of the project writes: run npm run build before a deploy" {
		t.Errorf("%v, %v", notices, err)
	}
	if _, _, err := project.Load(dir, project.Options{}); err == nil || !strings.Contains(err.Error(), "assets.directory is missing, which the build of the project writes: run npm run build first") {
		t.Errorf("a deploy: %v", err)
	}
}

// TestBuildCommand: the package manager of the lock file runs the script, and OpenNext has a
// program of its own.
func TestBuildCommand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"app/w.js": ""}, ""},
		{map[string]string{"app/package.json": `{"scripts": {"test": "x"}}`}, ""},
		{map[string]string{"app/package.json": `{"scripts": {"build": "tsc"}}`}, "npm run build"},
		{map[string]string{"app/svelte.config.js": "", "yarn.lock": ""}, "yarn build"},
		{map[string]string{"app/package.json": `{"scripts": {"build": "tsc"}}`, "pnpm-lock.yaml": ""}, "pnpm run build"},
		{map[string]string{"app/open-next.config.ts": "", "app/package.json": `{"scripts": {"build": "next build"}}`, "app/bun.lock": ""}, "bunx opennextjs-cloudflare build"},
	} {
		dir := svctest.Files(t, test.files)
		if got := project.BuildCommand(filepath.Join(dir, "app")); got != test.want {
			t.Errorf("%v: %q, want %q", test.files, got, test.want)
		}
	}
}

// TestOldForms: what older projects and templates have, and what of it stops a deploy.
func TestOldForms(t *testing.T) {
	t.Parallel()
	load := func(text string, o project.Options) (*project.File, error) {
		f, _, err := project.Load(svctest.Files(t, map[string]string{"wrangler.toml": text, "public/a.html": "a", "w.js": ""}), o)
		return f, err
	}
	f, err := load("name = \"x\"\nmain = \"w.js\"\ncompatibility_date = \"2026-01-01\"\nassets = \"./public\"\n", project.Options{})
	if err != nil || filepath.Base(f.Assets.Dir) != "public" {
		t.Errorf("assets as a path: %+v, %v", f, err)
	}
	for date, placeholder := range map[string]bool{"<DATE>": true, "YYYY-MM-DD": true, "{{ date }}": true, "2026-1-1": false, "2026-13-01": false} {
		text := "name = \"x\"\nmain = \"w.js\"\ncompatibility_date = \"" + date + "\"\n"
		if _, err := load(text, project.Options{Unbuilt: true}); (err == nil) != placeholder {
			t.Errorf("%s in a check: %v", date, err)
		}
		if _, err := load(text, project.Options{}); svc.CodeOf(err) != svc.CodeConfigInvalid || !strings.Contains(err.Error(), "wrangler.toml:3:") {
			t.Errorf("%s in a deploy: %v", date, err)
		}
		if _, err := load(text, project.Options{CompatibilityDate: "2026-01-01"}); err != nil {
			t.Errorf("%s with another date: %v", date, err)
		}
	}
}

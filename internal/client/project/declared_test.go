package project_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/client/project"
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
	_, notices, err := project.Load(dir, project.Options{Unbuilt: true})
	if err != nil || len(notices) != 1 || notices[0].String() != "wrangler.jsonc:1:65: assets.directory is what the build of Vite writes: run the build before a deploy" {
		t.Errorf("%v, %v", notices, err)
	}
	if _, _, err := project.Load(dir, project.Options{}); err == nil || !strings.Contains(err.Error(), "run the build of Vite first, which writes it (npm run build)") {
		t.Errorf("a deploy: %v", err)
	}
}

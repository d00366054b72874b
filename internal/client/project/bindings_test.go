package project_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// everyKind declares a binding of each kind, with the names that begin with its argument.
const everyKind = `{ "name": "shop", "main": "i.js", "compatibility_date": "2026-01-01",
	"kv_namespaces": [{ "binding": "%[1]skv" }], "d1_databases": [{ "binding": "%[1]sdb" }], "r2_buckets": [{ "binding": "%[1]sr2", "bucket_name": "bucket" }],
	"queues": { "producers": [{ "binding": "%[1]squeue", "queue": "jobs" }] }, "workflows": [{ "binding": "%[1]sflow", "name": "flow", "class_name": "Flow" }],
	"services": [{ "binding": "%[1]sself", "service": "shop" }], "durable_objects": { "bindings": [{ "name": "%[1]sobject", "class_name": "Thing" }] },
	"migrations": [{ "tag": "v1", "new_sqlite_classes": ["Thing"] }], "assets": { "directory": ".", "binding": "%[1]sfiles" }, "ai": { "binding": "%[1]sai" },
	"analytics_engine_datasets": [{ "binding": "%[1]sdata", "dataset": "points" }], "ratelimits": [{ "name": "%[1]slimit", "namespace_id": "1", "simple": { "limit": 1, "period": 10 } }],
	"send_email": [{ "name": "%[1]smail" }], "hyperdrive": [{ "binding": "%[1]shyper", "id": "x" }], "version_metadata": { "binding": "%[1]sversion" },
	"secrets_store_secrets": [{ "binding": "%[1]ssecret", "store_id": "s", "secret_name": "KEY" }], "images": { "binding": "%[1]simages" } }`

// TestBindingNames: every kind takes a name that is no identifier, and refuses the names that a deploy
// refuses. A variable may have more names.
func TestBindingNames(t *testing.T) {
	t.Parallel()
	load := func(text string) []string {
		dir := svctest.Files(t, map[string]string{"wrangler.json": text, "i.js": ""})
		_, _, err := project.Load(dir, project.Options{AllowMissing: []string{"images"}, Unbuilt: true})
		return details(err)
	}
	for _, prefix := range []string{"my-", "my ", "2", "ö.", "a:", "~"} {
		if problems := load(fmt.Sprintf(everyKind, prefix)); problems != nil {
			t.Errorf("%q: %q", prefix, problems)
		}
	}
	kinds := strings.Count(everyKind, "%[1]s")
	for prefix, want := range map[string]string{
		"a/": "which has a slash or a backslash", "../": "slash", `a\\`: "backslash", " ": "which begins or ends with a space", "svc:": "which is reserved for the platform",
		`\u0007`: "which has a control character", strings.Repeat("x", 128): "which is longer than 128 bytes",
	} {
		problems := slices.DeleteFunc(load(fmt.Sprintf(everyKind, prefix)), func(text string) bool { return !strings.Contains(text, want) })
		if len(problems) != kinds {
			t.Errorf("%q: %d of %d kinds refuse it: %q", prefix, len(problems), kinds, problems)
		}
	}
	if problems := load(`{ "main": "i.js", "compatibility_date": "2026-01-01", "analytics_engine_datasets": [{ "binding": "my data" }] }`); len(problems) == 0 || !strings.Contains(problems[0], `the dataset "my data"; the name of a dataset has`) {
		t.Errorf("the name of a binding that is no dataset: %q", problems)
	}
	const text = `{ "name": "shop", "main": "i.js", "compatibility_date": "2026-01-01", "kv_namespaces": [{ "binding": "%s" }], "vars": { "%s": "" } }`
	for _, c := range []struct{ binding, variable, want string }{
		{"", "A", "which is empty"}, {"A", "svc:files", "reserved"}, {"A", "PROJECT_ID", "reserved"}, {"VERSION_ID", "A", "reserved"}, {"A", "a/b", ""},
	} {
		if problems := load(fmt.Sprintf(text, c.binding, c.variable)); (c.want == "") != (problems == nil) || c.want != "" && !strings.Contains(problems[0], c.want) {
			t.Errorf("%+v: %q", c, problems)
		}
	}
}

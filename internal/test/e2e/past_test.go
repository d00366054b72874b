//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"
)

// TestForkOfThePast: a version begins with another one's D1 and KV of a moment, although that one has written since
// and is archived now. Before its first moment there is nothing to begin with.
func TestForkOfThePast(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_HISTORY=1h/1d/7d", "SVC_SYNC_WINDOW=100ms")
	dir := worker(t, `{ "name": "shop", "main": "index.js", "compatibility_date": "2026-11-01", "d1_databases": [{ "binding": "DB", "database_name": "shop" }],
		"kv_namespaces": [{ "binding": "KV" }] }`,
		map[string]string{
			"index.js":                `export default { fetch() { return new Response("ok"); } };`,
			"migrations/0001_all.sql": "CREATE TABLE orders(id INTEGER PRIMARY KEY, what TEXT);",
		})
	before := time.Now()
	d.deploy(dir, "--version", "v1")
	d.ok(dir, "d1", "execute", "v1", "--write", "--command", "INSERT INTO orders(what) VALUES ('kept')")
	d.ok(dir, "kv", "key", "put", "v1", "state", "kept")
	d.deploy(dir, "--version", "now", "--parent", "v1") // a fork is a point of its parent
	at := time.Now()
	d.ok(dir, "d1", "execute", "v1", "--write", "--command", "INSERT INTO orders(what) VALUES ('later'); UPDATE orders SET what = 'spoilt' WHERE id = 1")
	d.ok(dir, "kv", "key", "put", "v1", "state", "spoilt")
	d.ok(dir, "promote", "now", "--leave-writes") // production is not archived
	d.ok(dir, "versions", "archive", "v1")

	v := d.deploy(dir, "--version", "past", "--parent", "v1", "--at", at.Format(time.RFC3339Nano))
	if rows := d.ok(dir, "d1", "execute", "past", "--command", "SELECT group_concat(what) AS all_of_it FROM orders", "-o", "json"); !strings.Contains(rows, `"kept"`) {
		t.Errorf("the version of the past has the rows %s", rows)
	}
	if value := d.ok(dir, "kv", "key", "get", "past", "state"); strings.TrimSpace(value) != "kept" {
		t.Errorf("the version of the past has the key %q", value)
	}
	detail := ""
	for _, s := range v.Timeline {
		if s.Step == "branching" {
			detail = s.Detail
		}
	}
	if !strings.Contains(detail, "of v1 at") || !strings.Contains(detail, ", as of ") || v.ParentAt.IsZero() {
		t.Errorf("the step says %q, and the record %v", detail, v.ParentAt)
	}
	if shown := d.ok(dir, "projects", "get", "shop"); !strings.Contains(shown, "all points for 1h") {
		t.Errorf("the project says %s", shown)
	}
	_, stderr, code := d.run(dir, "deploy", "--wait", "--version", "never", "--parent", "v1", "--at", before.Add(-time.Hour).Format(time.RFC3339))
	if code == 0 || !strings.Contains(stderr, "history_missing") {
		t.Errorf("before the first moment: %d, %s", code, stderr)
	}
}

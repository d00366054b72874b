//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/pkg/api"
)

const diffWrites = `INSERT INTO orders(id, what) VALUES (10, 'theirs'), (11, 'alike'); UPDATE orders SET what = 'it''s sold', n = x'00ff' WHERE id = 2; DELETE FROM orders WHERE id = 1;
	ALTER TABLE orders ADD COLUMN note TEXT DEFAULT 'none'; CREATE TABLE "odd ""name"""(k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO "odd ""name""" VALUES ('a', 1.5); DROP TABLE old;
	CREATE INDEX orders_what ON orders(what)`

// diffWorker has an object that counts, and namespaces that a version may bind under other names.
const diffWorker = `import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {
	async fetch() {
		const n = (await this.ctx.storage.get("n") ?? 0) + 1;
		await this.ctx.storage.put("n", n);
		return new Response(String(n));
	}
}
export default { fetch(request, env) { return env.ROOMS.getByName(new URL(request.url).pathname).fetch(request); } };`

// TestDataDiff compares a version with its child: all kinds of data, while they run, archived, by
// JSON and by statements, which make the rows of the first one those of the second one.
func TestDataDiff(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := worker(t, `{ "name": "shop", "main": "index.js", "compatibility_date": "2026-11-01", "d1_databases": [{ "binding": "DB", "database_name": "shop" }],
		"kv_namespaces": [{ "binding": "KV" }], "r2_buckets": [{ "binding": "FILES", "bucket_name": "files" }],
		"durable_objects": { "bindings": [{ "name": "ROOMS", "class_name": "Room" }] }, "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Room"] }] }`,
		map[string]string{
			"index.js":                diffWorker,
			"migrations/0001_all.sql": "CREATE TABLE orders(id INTEGER PRIMARY KEY, what TEXT UNIQUE, n); CREATE TABLE old(x); INSERT INTO old VALUES (1)",
			"small.txt":               "small",
		})
	v1 := d.deploy(dir, "--version", "v1")
	d.ok(dir, "d1", "execute", "v1", "--write", "--command", "INSERT INTO orders(what) VALUES ('a'), ('b'), ('c')")
	d.ok(dir, "kv", "key", "put", "v1", "gone", "1")
	d.ok(dir, "kv", "key", "put", "v1", "same", "1")
	d.room(v1, "/kept", "1")
	d.room(v1, "/changed", "1")
	v2 := d.deploy(dir, "--version", "v2", "--parent", "v1", "--comment-file", "comment.md")
	if text, err := os.ReadFile(filepath.Join(dir, "comment.md")); err != nil || !strings.Contains(string(text), "| Data changed | `nothing since the fork` |") {
		t.Errorf("the comment, by the poll ticket: %v\n%s", err, text)
	}
	if out := d.ok(dir, "data", "diff", "v2"); !strings.HasPrefix(out, "v2 changed no data since it was forked from v1 at 20") {
		t.Errorf("an untouched child: %s", out)
	}
	d.ok(dir, "d1", "execute", "v1", "--write", "--command", "INSERT INTO orders(id, what) VALUES (11, 'alike'), (12, 'ours')")
	d.ok(dir, "d1", "execute", "v2", "--write", "--command", diffWrites)
	d.ok(dir, "kv", "key", "put", "v1", "both", "2")
	d.ok(dir, "kv", "key", "put", "v2", "both", "2")
	d.ok(dir, "kv", "key", "put", "v2", "new", "3", "--metadata", `{"by":"ada"}`)
	d.ok(dir, "kv", "key", "delete", "v2", "gone")
	d.ok(dir, "r2", "object", "put", "v2", "small.txt", "--file", "small.txt")
	d.room(v2, "/changed", "2")
	d.room(v2, "/new", "1")

	want := `from the data of v1 to that of v2:
- D1 shop: table old
~ D1 shop: table orders +note
+ D1 shop: table odd "name"
+ D1 shop: index orders_what
DATA                        NEW  CHANGED  DELETED
D1 shop: rows of odd "name" 1    0        0
D1 shop: rows of old        0    0        1
D1 shop: rows of orders     1    1        2
Durable Objects of Room     1    1        0
KV KV: keys                 1    0        1
R2 files: objects           1    0        0
`
	first := d.ok(dir, "data", "diff", "v1", "v2")
	if diff := cmp.Diff(squeezed(want), squeezed(first)); diff != "" {
		t.Error(diff)
	}
	rows := d.ok(dir, "data", "diff", "v1", "v2", "--rows")
	for _, line := range []string{`~  shop orders  id=2  n: NULL → (2 bytes)  note: – → "none"  what: "b" → "it's sold"`, `+  KV  new  metadata={"by":"ada"}  value="3"`, `-  KV  gone  value="1"`} {
		if !strings.Contains(rows, line+"\n") {
			t.Errorf("no line %q in\n%s", line, rows)
		}
	}
	d.ok(dir, "versions", "archive", "v2")
	if diff := cmp.Diff(first, d.ok(dir, "data", "diff", "v1", "v2")); diff != "" {
		t.Errorf("archived: %s", diff)
	}
	script := d.ok(dir, "data", "diff", "v1", "v2", "--sql", "--database", "shop")
	if err := os.WriteFile(filepath.Join(dir, "changes.sql"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	d.ok(dir, "d1", "import", "v1", "changes.sql")
	if out := d.ok(dir, "data", "diff", "v1", "v2", "--database", "shop"); out != "the data of v1 is that of v2\n" {
		t.Errorf("after the statements\n%s\nstill different: %s", script, out)
	}
	d.ok(dir, "versions", "destroy", "v2", "--yes")
	if _, errs, code := d.run(dir, "data", "diff", "v1", "v2"); code == 0 || !strings.Contains(errs, "was destroyed") {
		t.Errorf("a destroyed version: exit %d, %s", code, errs)
	}
}

// room asks an object of a version, which counts.
func (d *daemon) room(v api.Version, path, want string) {
	d.t.Helper()
	if got := d.get(v.PreviewURL + path); got.Body != want {
		d.t.Errorf("%s of %s: %+v, want %q", path, v.ID, got, want)
	}
}

// squeezed is a text with one space between its words.
func squeezed(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

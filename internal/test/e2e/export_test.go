//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

const exportWrites = `INSERT INTO orders(what, n) VALUES ('new', 1.5), ('it''s', 9007199254740993), (NULL, x'00ff');
	UPDATE orders SET what = 'sold' WHERE id = 2; DELETE FROM orders WHERE id = 1;
	UPDATE stock SET left = 0 WHERE item = 'b'; INSERT INTO stock VALUES ('c', 3); CREATE TABLE notes(text); INSERT INTO notes VALUES ('first')`

// TestExport: what the old production wrote after the fork is exported after the promote,
// from the version that runs and from the archived one. The counts are those of the
// promotion, and the new production has the same data after the export was imported.
func TestExport(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := worker(t, `{ "name": "shop", "main": "index.js", "compatibility_date": "2026-11-01", "d1_databases": [{ "binding": "DB", "database_name": "shop" }],
		"kv_namespaces": [{ "binding": "KV" }], "r2_buckets": [{ "binding": "FILES", "bucket_name": "files" }] }`,
		map[string]string{
			"index.js":                `export default { fetch() { return new Response("ok"); } };`,
			"migrations/0001_all.sql": "CREATE TABLE orders(id INTEGER PRIMARY KEY, what TEXT UNIQUE, n); CREATE TABLE stock(item TEXT PRIMARY KEY, left INT) WITHOUT ROWID;",
			"large.bin":               strings.Repeat("0123456789abcdef", 400_000), // several parts
			"small.txt":               "small",
		})
	d.deploy(dir, "--version", "v1")
	d.ok(dir, "d1", "execute", "v1", "--write", "--command", "INSERT INTO orders(what) VALUES ('a'), ('b'), ('c'); INSERT INTO stock VALUES ('a', 1), ('b', 2)")
	d.ok(dir, "kv", "key", "put", "v1", "old", "1")
	d.ok(dir, "kv", "key", "put", "v1", "gone", "1")
	d.ok(dir, "r2", "object", "put", "v1", "gone.txt", "--file", "small.txt")
	d.deploy(dir, "--version", "v2", "--parent", "v1")
	d.ok(dir, "d1", "execute", "v1", "--write", "--command", exportWrites)
	d.ok(dir, "kv", "key", "put", "v1", "old", "2")
	d.ok(dir, "kv", "key", "put", "v1", "new", "3", "--metadata", `{"by":"ada"}`)
	d.ok(dir, "kv", "key", "delete", "v1", "gone")
	d.ok(dir, "r2", "object", "put", "v1", "dir/large.bin", "--file", "large.bin", "--metadata", "by=ada")
	d.ok(dir, "r2", "object", "put", "v1", "../odd", "--file", "small.txt")
	d.ok(dir, "r2", "object", "delete", "v1", "gone.txt")
	d.ok(dir, "promote", "v2", "--leave-writes")

	first := d.exported(dir, "running")
	d.ok(dir, "versions", "archive", "v1")
	second := d.exported(dir, "archived")
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("archived: %s", diff)
	}
	d.recounted(dir, first)

	d.ok(dir, "versions", "wake", "v1")
	d.ok(dir, "d1", "import", "v2", "archived/d1/shop.sql")
	d.ok(dir, "kv", "bulk", "delete", "v2", "archived/kv/deleted/KV.jsonl")
	d.ok(dir, "kv", "bulk", "put", "v2", "archived/kv/KV.jsonl")
	d.ok(dir, "r2", "sync", "v2", "archived/r2/files")
	for _, args := range [][]string{{"d1", "export"}, {"kv", "bulk", "get"}} {
		if diff := cmp.Diff(d.ok(dir, append(args, "v1")...), d.ok(dir, append(args, "v2")...)); diff != "" {
			t.Errorf("%v after the import: %s", args, diff)
		}
	}
	if _, errs, code := d.run(dir, "data", "export", "v1", "--since-cut", "--dir", "running"); code != 2 || !strings.Contains(errs, "running is not empty") {
		t.Errorf("a second export to a directory: exit %d, %s", code, errs)
	}
}

// exported exports v1 to a directory and returns the counts.
func (d *daemon) exported(dir, to string) (written api.Unmerged) {
	d.t.Helper()
	var out struct {
		Against string       `json:"against_version_id"`
		Files   []string     `json:"files"`
		Written api.Unmerged `json:"written"`
	}
	if err := json.Unmarshal([]byte(d.ok(dir, "data", "export", "v1", "--since-cut", "--dir", to, "-o", "json")), &out); err != nil {
		d.t.Fatal(err)
	}
	if want := []string{"d1/shop.sql", "kv/KV.jsonl", "kv/deleted/KV.jsonl", "r2/files.jsonl"}; out.Against != "v2" || cmp.Diff(want, out.Files) != "" {
		d.t.Errorf("got %+v", out)
	}
	for file, stored := range map[string]string{"r2/files/dir/large.bin": "large.bin", "r2/files.other/1": "small.txt"} {
		got, err := os.ReadFile(filepath.Join(dir, to, file))
		want, _ := os.ReadFile(filepath.Join(dir, stored))
		if err != nil || string(got) != string(want) {
			d.t.Errorf("%s has %d bytes, want %d: %v", file, len(got), len(want), err)
		}
	}
	return out.Written
}

// recounted compares the counts with those of the promotion and with the lines of the files.
func (d *daemon) recounted(dir string, written api.Unmerged) {
	d.t.Helper()
	list, err := d.client().Promotions(d.t.Context(), "shop", client.Page{})
	if err != nil {
		d.t.Fatal(err)
	}
	if diff := cmp.Diff(list.Items[0].Unmerged, &written); diff != "" {
		d.t.Errorf("the counts of the promotion: %s", diff)
	}
	script, err := os.ReadFile(filepath.Join(dir, "running/d1/shop.sql"))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, t := range written.Tables {
		for begin, want := range map[string]int64{"INSERT INTO": t.Inserted, "UPDATE": t.Updated, "DELETE FROM": t.Deleted} {
			if n := strings.Count(string(script), "\n"+begin+` "`+t.Table+`"`); int64(n) != want {
				d.t.Errorf("%s: %d statements %s, want %d", t.Table, n, begin, want)
			}
		}
	}
	index, err := os.ReadFile(filepath.Join(dir, "running/r2/files.jsonl"))
	if n := strings.Count(string(index), "\n"); err != nil || int64(n) != written.Objects.Inserted+written.Objects.Deleted {
		d.t.Errorf("index of objects: %s, %v", index, err)
	}
	want := api.Unmerged{Keys: api.WrittenRecords{Inserted: 1, Updated: 1, Deleted: 1}, Objects: api.WrittenRecords{Inserted: 2, Deleted: 1}}
	if written.Keys != want.Keys || written.Objects != want.Objects || len(written.Tables) != 3 {
		d.t.Errorf("counts %+v", written)
	}
}

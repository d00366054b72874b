package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

// differing are the records of a difference, with one of each kind.
func differing() []api.DataExportRecord {
	counts := func(i, u, d int64) *api.WrittenRecords {
		return &api.WrittenRecords{Inserted: i, Updated: u, Deleted: d}
	}
	return []api.DataExportRecord{
		{Kind: "start", VersionID: "v7", AgainstVersionID: "v8", CommonVersionID: "v6"},
		{
			Kind: "schema", Op: "update", Resource: "main", Table: "orders", Key: "table orders", SQL: "ALTER TABLE orders ADD COLUMN note",
			Was:    map[string]any{"type": "table", "name": "orders", "sql": "CREATE TABLE orders(id)"},
			Values: map[string]any{"type": "table", "name": "orders", "sql": "CREATE TABLE orders(id,\n note)", "columns_added": []string{"note"}, "columns_removed": []string{}},
		},
		{Kind: "schema", Op: "update", Resource: "main", Table: "odd", Key: "table odd\x1b[2J\nDROP TABLE x; --", Was: map[string]any{"type": "table", "name": "odd\x1b[2J\nDROP TABLE x; --", "sql": "x"}, Values: map[string]any{"type": "table", "name": "odd\x1b[2J\nDROP TABLE x; --", "sql": "y"}},
		{Kind: "row", Op: "update", Resource: "main", Table: "orders", Row: map[string]any{"id": 1}, SQL: "UPDATE orders", Was: map[string]any{"id": 1, "state": "new", "gone": nil}, Values: map[string]any{"id": 1, "state": "sent\n", "note": map[string]any{"$base64": "AAEC"}, "gone": nil}},
		{Kind: "row", Op: "delete", Resource: "main", Table: "orders", Row: map[string]any{"id": 2}, SQL: "DELETE FROM orders", Was: map[string]any{"id": 2, "state": strings.Repeat("é", 70)}},
		{Kind: "row", Op: "insert", Resource: "main", Table: "docs_content", Row: map[string]any{"id": 2}, Values: map[string]any{"id": 2, "c0": 1.5}},
		{Kind: "count", Of: "row", Resource: "main", Table: "orders", Counts: counts(0, 1, 1)},
		{Kind: "schema", Op: "insert", Resource: "other", Table: "n", Key: "table n", SQL: "CREATE TABLE n(x)", Values: map[string]any{"type": "table", "name": "n", "sql": "CREATE TABLE n(x)"}},
		{Kind: "key", Op: "insert", Resource: "CACHE", Key: "k\nk", Values: map[string]any{"value": map[string]any{"$bytes": 70000, "$sha256": "0123456789abcdef"}, "metadata": map[string]any{"a": 1}}},
		{Kind: "count", Of: "key", Resource: "CACHE", Counts: counts(1, 0, 0)},
		{Kind: "durable_object", Op: "update", Resource: "Room", Key: "00ff"},
		{Kind: "count", Of: "durable_object", Resource: "Room", Counts: counts(0, 1, 0)},
		{Kind: "end"},
	}
}

// TestDataDiff: the summary, the rows, the schema, the script and the document.
func TestDataDiff(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ flags, out, errs, query string }{
		{"", `from the data of v7 to that of v8:
~ D1 main: table orders +note
~ D1 main: table odd[2J DROP TABLE x; --
+ D1 other: table n
DATA                     NEW  CHANGED  DELETED
D1 main: rows of orders  0    1        1
KV CACHE: keys           1    0        0
Durable Objects of Room  0    1        0
`, "", "with=v8"},
		{"--schema", `from the data of v7 to that of v8:
~ D1 main: table orders +note
    - CREATE TABLE orders(id)
    + CREATE TABLE orders(id,
    +  note)
~ D1 main: table odd[2J DROP TABLE x; --
    - x
    + y
+ D1 other: table n
    + CREATE TABLE n(x)
`, "", "with=v8"},
		{"--sql --full", `-- from the data of v7 to that of v8:
PRAGMA defer_foreign_keys=TRUE;
-- database main
ALTER TABLE orders ADD COLUMN note;
-- table odd[2J DROP TABLE x; -- differs in more than added columns: change it by hand first
UPDATE orders;
DELETE FROM orders;
-- a row of docs_content, which belongs to a virtual table: write it through that table
-- database other
CREATE TABLE n(x);
`, "the statements are of 2 databases: --database NAME writes those of one\nnot in SQL: KV CACHE: keys +1 ~0 -0\nnot in SQL: Durable Objects of Room +0 ~1 -0\n", "with=v8&rows=true&full=true"},
	} {
		f := newFake(t, "v6", "v6", "v7", "v8")
		f.diff = differing()
		code, out, errs := runs{}.fake(t, f, append([]string{"data", "diff", "v7", "v8"}, strings.Fields(test.flags)...)...)
		if d := cmp.Diff(test.out, out); code != kit.ExitOK || d != "" || errs != test.errs || f.diffs[0] != test.query {
			t.Errorf("%s: exit %d, %s, stderr %q, asked %v", test.flags, code, d, errs, f.diffs)
		}
	}
	f := newFake(t, "v6", "v6", "v7", "v8")
	f.diff = differing()
	_, out, errs := runs{}.fake(t, f, "data", "diff", "shop/v7", "shop/v8", "--rows", "--database", "main", "--table", "orders")
	holds(t, "rows", out, "~  main orders  id=1  note: – → (3 bytes)  state: \"new\" → \"sent\\n\"\n",
		"-  main orders  id=2  state=\""+strings.Repeat("é", 60)+"\"… (140 bytes)\n", "+  main docs_content  id=2  c0=1.5\n", "+  CACHE  k k  metadata={\"a\":1}  value=(70000 bytes, sha256 0123456789ab)\n", "~  Room  00ff\n")
	if f.diffs[0] != "with=v8&rows=true&database=main&table=orders" || errs != "" {
		t.Errorf("asked %v: %s", f.diffs, errs)
	}
	_, out, _ = runs{}.fake(t, f, "data", "diff", "v7", "v8", "--rows", "-o", "json")
	var got dataDifference
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Records) != 5 || len(got.Schema) != 3 || got.Schema[0].Added[0] != "note" || got.Counts[0].Deleted != 1 || got.OtherVersionID != "v8" {
		t.Errorf("%v: %s", err, out)
	}
}

// TestDataDiffNothing: two versions, and one that changed nothing; what is refused.
func TestDataDiffNothing(t *testing.T) {
	t.Parallel()
	f := newFake(t, "v6", "v6", "v7")
	f.diff = []api.DataExportRecord{{Kind: "start", CommonVersionID: "v6"}, {Kind: "end"}}
	for args, want := range map[string]string{"v7": "v7 changed no data since it was forked from v6\n", "v7 v6": "the data of v7 is that of v6\n"} {
		code, out, errs := runs{}.fake(t, f, append([]string{"data", "diff"}, strings.Fields(args)...)...)
		if code != kit.ExitOK || out != want {
			t.Errorf("%s: exit %d, %s%s", args, code, out, errs)
		}
	}
	for args, want := range map[string]string{
		"v7 --rows --sql": "exclude each other", "v7 --sql -o json": "leave out --output", "v7 other/v6": "names project other", "": "missing argument",
	} {
		if code, _, errs := (runs{}).fake(t, f, append([]string{"data", "diff"}, strings.Fields(args)...)...); code != kit.ExitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
	f.diff = f.diff[:1]
	for _, flags := range []string{"", "--sql"} {
		if code, out, errs := (runs{}).fake(t, f, append([]string{"data", "diff", "v7"}, strings.Fields(flags)...)...); code == kit.ExitOK || !strings.Contains(errs, "Error: ") {
			t.Errorf("an answer that ends: exit %d, %s%s", code, out, errs)
		}
	}
}

// TestCommentData: the comment of a deploy says what the version changed of its data. A server that
// has no answer does not end the deploy.
func TestCommentData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "comment.md")
	for name, test := range map[string]struct {
		args   string
		diff   []api.DataExportRecord
		says   []string
		asked  int
		silent bool
	}{
		"changes":      {"--parent v6", differing(), []string{"| Data changed | `D1 main: rows of orders +0 ~1 -1; KV CACHE: keys +1 ~0 -0; Durable Objects of Room +0 ~1 -0` |", "# D1 main: table orders\n- CREATE TABLE orders(id)\n+ CREATE TABLE orders(id,\n+  note)\n"}, 1, false},
		"no changes":   {"--parent v6", []api.DataExportRecord{{Kind: "start"}, {Kind: "end"}}, []string{"| Data changed | `nothing since the fork` |"}, 1, false},
		"too large":    {"--parent v6", []api.DataExportRecord{{Kind: "error", Problem: &api.Problem{Code: "diff_too_large"}}}, []string{"| Data changed | `too much to be compared here` |"}, 1, false},
		"no answer":    {"--parent v6", nil, []string{"### Deployed `shop/v9`"}, 1, true},
		"not a branch": {"", differing(), []string{"### Deployed `shop/v9`"}, 0, true},
	} {
		f := newFake(t, "v6", "v6")
		f.diff = test.diff
		code, _, errs := runs{}.fake(t, f, append([]string{"deploy", "--version", "v9", "--wait", "--comment-file", file}, strings.Fields(test.args)...)...)
		got, err := os.ReadFile(file)
		if code != kit.ExitOK || err != nil || len(f.diffs) != test.asked || strings.Join(f.diffs, "") != "" || test.silent != !strings.Contains(string(got), "Data changed") {
			t.Errorf("%s: exit %d, %v, asked %q, %s\n%s", name, code, err, f.diffs, errs, got)
		}
		holds(t, name, string(got), test.says...)
	}
	f := newFake(t, "v6", "v6")
	for _, flags := range []string{"", "--no-data-diff --comment-file " + file} {
		args := append([]string{"deploy", "--version", "v9", "--wait", "--parent", "v6"}, strings.Fields(flags)...)
		if code, _, errs := (runs{}).fake(t, f, args...); code != kit.ExitOK || len(f.diffs) != 0 {
			t.Errorf("%s: exit %d, asked %v: %s", flags, code, f.diffs, errs)
		}
	}
}

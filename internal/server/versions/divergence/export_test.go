package divergence_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/server/versions/divergence"
	"github.com/svcctl/svcctl/internal/svc"
)

// kinds are the tables that the kinds of bindings make.
const kinds = `sys: CREATE TABLE kv_namespace(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
	CREATE TABLE kv_entry(id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key TEXT NOT NULL, expiration INTEGER, metadata TEXT, blob TEXT, value BLOB, UNIQUE (namespace, key)) STRICT;
	CREATE TABLE object_bucket(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
	CREATE TABLE object_entry(id INTEGER PRIMARY KEY, bucket INTEGER NOT NULL, key TEXT NOT NULL, version TEXT NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL,
		uploaded INTEGER NOT NULL, class TEXT NOT NULL, checksums TEXT, http TEXT, custom TEXT, body BLOB, UNIQUE (bucket, key)) STRICT;
	CREATE TABLE object_blob(entry INTEGER NOT NULL, number INTEGER NOT NULL, size INTEGER NOT NULL, blob TEXT NOT NULL, PRIMARY KEY (entry, number)) STRICT, WITHOUT ROWID;
	CREATE TABLE queue(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, count INTEGER NOT NULL DEFAULT 0) STRICT;
	CREATE TABLE queue_message(id INTEGER PRIMARY KEY, queue INTEGER NOT NULL, due INTEGER NOT NULL, sent INTEGER NOT NULL, attempts INTEGER NOT NULL, origin INTEGER,
		key TEXT NOT NULL, type TEXT NOT NULL, body BLOB) STRICT;
	INSERT INTO kv_namespace VALUES (1, 'cache'); INSERT INTO object_bucket VALUES (1, 'files'); INSERT INTO queue(id, name) VALUES (1, 'jobs'), (2, 'dead');
	INSERT INTO kv_entry(namespace, key, value) VALUES (1, 'a', x'61'), (1, 'b', x'62'), (1, 'c', x'63');
	INSERT INTO object_entry VALUES (1, 1, 'old', 'v', 1, 'e', 0, 'Standard', NULL, NULL, NULL, x'6f'), (2, 1, 'gone', 'v', 0, 'e', 0, 'Standard', NULL, NULL, NULL, x'');
	INSERT INTO queue_message VALUES (1, 1, 0, 0, 0, NULL, 'm1', 'json', x'31')`

const customers = `database-shop: CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, data); CREATE TABLE _cf_seed(path);
	INSERT INTO customers VALUES (1, 'ada', NULL), (2, 'bob', NULL), (3, 'cleo', NULL)`

// bookshop is production v1 with data of all kinds, v2 that was forked from it, and what v1
// wrote after that.
func bookshop(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.version("v1", "")
	w.exec("v1", customers, kinds)
	w.version("v2", "v1")
	w.put("blob-1", "large ")
	w.put("blob-2", "body")
	w.exec("v1",
		"database-shop: INSERT INTO customers VALUES (4, 'dora', x'00ff'), (9007199254740993, 'it''s', 1.5); INSERT INTO _cf_seed VALUES (1)",
		"database-shop: UPDATE customers SET name = 'bert' WHERE id = 2; DELETE FROM customers WHERE id = 1",
		"database-logs: CREATE TABLE log(line); INSERT INTO log VALUES ('first')",
		"sys: INSERT INTO kv_namespace VALUES (2, 'new'); INSERT INTO kv_entry VALUES (10, 2, 'n', 1900000000, '{\"by\":\"ada\"}', NULL, x'ff'), (11, 1, 'big', NULL, NULL, NULL, CAST('"+strings.Repeat("long ", 2000)+"' AS BLOB))",
		"sys: UPDATE kv_entry SET value = x'41' WHERE key = 'a'; DELETE FROM kv_entry WHERE key = 'b'; UPDATE kv_entry SET key = 'd' WHERE key = 'c'; INSERT INTO kv_entry(namespace, key, value) VALUES (1, 'b', x'42')",
		`sys: INSERT INTO object_entry VALUES (3, 1, 'large', 'v', 10, '0123456789abcdef0123456789abcdef', 1000, 'Standard', '{"2":"aa"}', '{"contentType":"text/plain","cacheExpiry":2000}', '[{"k":"by","v":"bob"}]', NULL);
			INSERT INTO object_blob VALUES (3, 2, 4, 'blob-2'), (3, 1, 6, 'blob-1')`,
		"sys: UPDATE object_entry SET size = 3, body = x'6e6577', etag = 'x-2' WHERE id = 1; DELETE FROM object_entry WHERE id = 2",
		"sys: INSERT INTO queue_message VALUES (2, 1, 3000, 1000, 0, NULL, 'm2', 'bytes', x'ff'), (3, 2, 0, 0, 2, 1, 'm3', 'text', x'68'); UPDATE queue_message SET attempts = 1 WHERE id = 1",
		"own-workflow: CREATE TABLE instance(id INTEGER PRIMARY KEY); INSERT INTO instance VALUES (3)")
	if err := w.open["v1"].Ship(t.Context()); err != nil { // a cut has no workflows
		t.Fatal(err)
	}
	w.exec("v2", "database-shop: DELETE FROM customers; INSERT INTO customers VALUES (4, 'theirs', NULL)") // the other's writes do not count
	return w
}

// put stores an object as blobs are.
func (w *world) put(key, body string) {
	w.t.Helper()
	if _, err := w.bucket.Put(w.t.Context(), key, strings.NewReader(body), int64(len(body)), objstore.Condition{}); err != nil {
		w.t.Fatal(err)
	}
}

// export returns the records of an export as lines.
func (w *world) export(o svc.DataExport, change ...func(*divergence.Deps)) (lines []string, start svc.ExportStart, wrote *svc.Unmerged, err error) {
	w.t.Helper()
	o.Project = "p"
	err = w.service(change...).Export(w.t.Context(), o, func(r svc.ExportRecord) error {
		switch r.Kind { //nolint:exhaustive // the others are below
		case svc.ExportBegin:
			start = *r.Start
		case svc.ExportEnd:
			wrote = r.Wrote
		default:
			lines = append(lines, line(w.t, r))
		}
		return nil
	})
	return lines, start, wrote, err
}

func line(t testing.TB, r svc.ExportRecord) string {
	t.Helper()
	row, err := json.Marshal(r.Row)
	if err != nil {
		t.Fatal(err)
	}
	values, err := json.Marshal(r.Values)
	if err != nil {
		t.Fatal(err)
	}
	body := ""
	if r.Kind == svc.ExportBody {
		body = fmt.Sprintf("%d:%s", r.Offset, r.Body)
	}
	text := fmt.Sprint(r.Kind, " ", r.Op, " ", r.Resource, " ", r.Table, r.Key, " ", string(row), " ", string(values), " ", r.SQL, body)
	if len(text) > 400 { // the value of big
		text = fmt.Sprint(text[:60], len(text))
	}
	return text
}

var wrote = []string{
	`table insert logs log null null CREATE TABLE IF NOT EXISTS log(line)`,
	`row insert logs log {"rowid":1} {"line":"first"} INSERT INTO "log" ("line") VALUES ('first')`,
	`row delete shop customers {"id":1} null DELETE FROM "customers" WHERE "id" IS 1`,
	`row update shop customers {"id":2} {"data":null,"id":2,"name":"bert"} UPDATE "customers" SET "name" = 'bert' WHERE "id" IS 2`,
	`row insert shop customers {"id":4} {"data":{"$base64":"AP8="},"id":4,"name":"dora"} INSERT INTO "customers" ("id", "name", "data") VALUES (4, 'dora', X'00ff')`,
	`row insert shop customers {"id":"9007199254740993"} {"data":1.5,"id":"9007199254740993","name":"it's"} INSERT INTO "customers" ("id", "name", "data") VALUES (9007199254740993, 'it''s', 1.5)`,
	`key delete cache b null null `,
	`key delete cache c null null `,
	`object delete files gone null null `,
	`key update cache a null {"value":"A"} `,
	`key insert cache d null {"value":"c"} `,
	`key insert new n null {"expiration":1900000000,"metadata":{"by":"ada"},"value":{"$base64":"/w=="}} `,
	`key insert cache big null {"value":"long long long long long10039`,
	`key insert cache b null {"value":"B"} `,
	`object update files old null {"checksums":{},"custom_metadata":{},"etag":"x-2","http_metadata":{},"size_bytes":3,"storage_class":"Standard","uploaded_at":"1970-01-01T00:00:00Z"} `,
	`body  files old null null 0:new`,
	`object insert files large null {"checksums":{"md5":"0123456789abcdef0123456789abcdef","sha256":"aa"},"custom_metadata":{"by":"bob"},"etag":"0123456789abcdef0123456789abcdef",` +
		`"http_metadata":{"cache_expiry":"1970-01-01T00:00:02Z","content_type":"text/plain"},"size_bytes":10,"storage_class":"Standard","uploaded_at":"1970-01-01T00:00:01Z"} `,
	`body  files large null null 0:large `,
	`body  files large null null 6:body`,
	`message update jobs m1 null {"attempts":1,"body":"1","content_type":"json","due_at":"1970-01-01T00:00:00Z","sent_at":"1970-01-01T00:00:00Z"} `,
	`message insert jobs m2 null {"attempts":0,"body":{"$base64":"/w=="},"content_type":"bytes","due_at":"1970-01-01T00:00:03Z","sent_at":"1970-01-01T00:00:01Z"} `,
	`message insert dead m3 null {"attempts":2,"body":"h","content_type":"text","dead_letter_of":"jobs","due_at":"1970-01-01T00:00:00Z","sent_at":"1970-01-01T00:00:00Z"} `,
}

// TestExport: what v1 wrote since the fork, from its worker host and from the object store;
// the counts are those of the plan of a promote.
func TestExport(t *testing.T) {
	t.Parallel()
	w := bookshop(t)
	w.production = "v2"
	want := slices.Clone(wrote)
	for i := range want {
		if len(want[i]) > 400 {
			want[i] = fmt.Sprint(want[i][:60], len(want[i]))
		}
	}
	for _, running := range []bool{true, false} {
		if !running {
			w.close("v1")
		}
		lines, start, counted, err := w.export(svc.DataExport{Ref: ref("v1"), SinceCut: true})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, lines); d != "" {
			t.Errorf("running %t: %s", running, d)
		}
		if start.Version != "v1" || start.Against != "v2" || start.Common != "v1" || start.At.IsZero() || start.Reason != "" {
			t.Errorf("start %+v", start)
		}
		if d := cmp.Diff(w.unmerged("v1", "v2"), *counted); d != "" {
			t.Errorf("counts: %s", d)
		}
	}
}

// TestExportEverything: without a cut all is exported as new, and the export says why.
func TestExportEverything(t *testing.T) {
	t.Parallel()
	w := bookshop(t)
	w.version("root", "")
	for name, test := range map[string]struct {
		o      svc.DataExport
		reason svc.NoCommonCut
	}{
		"asked":     {o: svc.DataExport{Ref: ref("v1")}},
		"unrelated": {svc.DataExport{Ref: ref("v1"), SinceCut: true, Against: "root"}, svc.NoCutUnrelated},
	} {
		lines, start, counted, err := w.export(test.o)
		if err != nil || start.Reason != test.reason || start.Common != "" {
			t.Fatalf("%s: %+v, %v", name, start, err)
		}
		for _, want := range []string{
			`table insert shop customers null null CREATE TABLE IF NOT EXISTS customers(id INTEGER PRIMARY KEY, name TEXT, data)`,
			`row insert shop customers {"id":3} {"data":null,"id":3,"name":"cleo"} INSERT INTO "customers" ("id", "name", "data") VALUES (3, 'cleo', NULL)`,
			`key insert cache a null {"value":"A"} `, `body  files large null null 6:body`,
		} {
			if !slices.Contains(lines, want) {
				t.Errorf("%s: missing %s in\n%s", name, want, strings.Join(lines, "\n"))
			}
		}
		got := text(*counted)
		if !strings.HasSuffix(got, ": logs.log +1 ~0 -0, shop.customers +4 ~0 -0; keys +5 ~0 -0, objects +2 ~0 -0, messages +3 ~0 -0, instances +1 ~0 -0") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestExportReusedID: the engine gives the id of a deleted row to a new one; then the old key
// is deleted and the new one written, in this order.
func TestExportReusedID(t *testing.T) {
	t.Parallel()
	w := bookshop(t)
	w.version("v3", "v1")
	w.exec("v1", "sys: DELETE FROM kv_entry WHERE key IN ('b', 'big'); INSERT INTO kv_entry(namespace, key, value) VALUES (1, 'big', x'31')")
	lines, _, _, err := w.export(svc.DataExport{Ref: ref("v1"), SinceCut: true, Against: "v3"})
	want := []string{`key delete cache b null null `, `key update cache big null {"value":"1"} `}
	if d := cmp.Diff(want, lines); d != "" || err != nil {
		t.Error(d, err)
	}
	w.exec("v1", "sys: DELETE FROM kv_entry WHERE key IN ('n', 'big'); INSERT INTO kv_entry(namespace, key, value) VALUES (1, 'big', x'32')")
	lines, _, _, err = w.export(svc.DataExport{Ref: ref("v1"), SinceCut: true, Against: "v3"})
	want = []string{`key delete new n null null `, `key delete cache big null null `, `key delete cache b null null `, `key insert cache big null {"value":"2"} `}
	if d := cmp.Diff(want, lines); d != "" || err != nil {
		t.Error(d, err)
	}
}

// TestExportIncomplete: an export that a limit, a missing body or its client ends is an error
// and has no last record.
func TestExportIncomplete(t *testing.T) {
	t.Parallel()
	w := bookshop(t)
	o := svc.DataExport{Ref: ref("v1"), SinceCut: true, Against: "v2"}
	w.exec("v1", "database-shop: WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO customers SELECT i, hex(randomblob(40)), NULL FROM n")
	lines, _, counted, err := w.export(o, func(d *divergence.Deps) { d.ExportPages = 40 })
	if svc.CodeOf(err) != svc.CodeExportIncomplete || counted != nil || len(lines) == 0 {
		t.Errorf("pages: %d records, %v, %v", len(lines), counted, err)
	}
	// The limits of a comparison are not those of an export.
	lines, _, counted, err = w.export(o, func(d *divergence.Deps) { d.Pages = 40 })
	if err != nil || counted.Tables[1].Inserted != 2993 || counted.Tables[1].AtLeast || len(lines) < 2993 {
		t.Errorf("%d records, %+v, %v", len(lines), counted, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.service().Export(ctx, o, func(svc.ExportRecord) error { return ctx.Err() }); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if err := w.bucket.Delete(t.Context(), "blob-2"); err != nil {
		t.Fatal(err)
	}
	_, _, counted, err = w.export(o)
	if svc.CodeOf(err) != svc.CodeExportIncomplete || counted != nil {
		t.Errorf("a missing body: %v, %v", counted, err)
	}
	gone := errors.New("gone")
	if err := w.service().Export(t.Context(), o, func(svc.ExportRecord) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("no client: %v", err)
	}
}

// TestExportRefused: what has no meaning, and versions without data.
func TestExportRefused(t *testing.T) {
	t.Parallel()
	w := bookshop(t)
	failed := w.versions["v2"]
	failed.Ref, failed.Status = ref("failed"), svc.StatusFailed
	w.versions["failed"] = failed
	destroyed := failed
	destroyed.Ref, destroyed.Status = ref("destroyed"), svc.StatusDestroyed
	w.versions["destroyed"] = destroyed
	deploying := failed
	deploying.Ref, deploying.Status = ref("deploying"), svc.StatusDeploying
	w.versions["deploying"] = deploying
	refused := func(code string, o svc.DataExport) {
		t.Helper()
		if lines, _, _, err := w.export(o); svc.CodeOf(err) != code || lines != nil {
			t.Errorf("%+v: %v, %v", o, lines, err)
		}
	}
	refused(svc.CodeNoProduction, svc.DataExport{Ref: ref("v1"), SinceCut: true})
	w.production = "v1"
	refused(svc.CodeInvalidParameter, svc.DataExport{Ref: ref("v1"), SinceCut: true})
	refused(svc.CodeInvalidParameter, svc.DataExport{Ref: ref("v1"), Against: "v2"})
	refused(svc.CodeVersionNotFound, svc.DataExport{Ref: ref("v9")})
	refused(svc.CodeVersionNotFound, svc.DataExport{Ref: ref("v1"), SinceCut: true, Against: "v9"})
	refused(svc.CodeVersionFailed, svc.DataExport{Ref: ref("failed")})
	refused(svc.CodeVersionDestroyed, svc.DataExport{Ref: ref("destroyed")})
	refused(svc.CodeVersionNotReady, svc.DataExport{Ref: ref("deploying")})
}

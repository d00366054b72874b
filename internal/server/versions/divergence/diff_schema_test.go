package divergence_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestDiffSchema: objects of the schema that were made, dropped and changed, in an order in which their
// statements can run.
func TestDiffSchema(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.version("v1", "")
	w.exec("v1", `database-shop: CREATE TABLE old(a); CREATE TABLE "it's ""odd"""("a b", c); CREATE INDEX gone ON old(a); CREATE INDEX kept ON "it's ""odd"""(c);
		CREATE VIEW seen AS SELECT 1; CREATE TABLE made(id INTEGER PRIMARY KEY, a); CREATE TABLE same(a); INSERT INTO made(a) VALUES (1); INSERT INTO old VALUES (1);
		INSERT INTO "it's ""odd""" VALUES (1, x'00'), (2, CAST(x'ff' AS TEXT))`)
	w.version("v2", "v1")
	w.exec("v2", `database-shop: DROP TABLE old; ALTER TABLE "it's ""odd""" ADD COLUMN note TEXT DEFAULT 'n'; DROP VIEW seen; CREATE VIEW seen AS SELECT 2;
		CREATE TABLE new(x); INSERT INTO new VALUES (1); CREATE UNIQUE INDEX once ON made(a); ALTER TABLE made RENAME COLUMN a TO b; UPDATE "it's ""odd""" SET c = x'01' WHERE c = x'00';
		CREATE TRIGGER after_new AFTER INSERT ON new BEGIN DELETE FROM made; END`)
	records, _, err := w.diff(svc.DataDiff{Ref: ref("v1"), With: "v2", Rows: true})
	var got []string
	for _, r := range records {
		if r.Kind == svc.DiffSchema || r.SQL != "" {
			got = append(got, string(r.Kind)+" "+string(r.Op)+": "+r.SQL)
		}
	}
	want := []string{
		`schema delete: DROP INDEX "gone"`, `schema delete: DROP TABLE "old"`,
		`schema update: ALTER TABLE "it's ""odd""" ADD COLUMN note TEXT DEFAULT 'n'`,
		`schema update: `,
		`schema insert: CREATE TABLE new(x)`,
		`row update: UPDATE "it's ""odd""" SET "c" = X'01', "note" = 'n' WHERE "rowid" IS 1 AND "a b" IS 1 AND "c" IS X'00'`,
		`row insert: INSERT INTO "new" ("rowid", "x") VALUES (1, 1)`,
		"schema update: DROP VIEW \"seen\";\nCREATE VIEW seen AS SELECT 2",
		`schema insert: CREATE UNIQUE INDEX once ON made(b)`,
		`schema insert: CREATE TRIGGER after_new AFTER INSERT ON new BEGIN DELETE FROM made; END`,
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	for _, r := range records {
		if r.Kind == svc.DiffSchema && strings.HasSuffix(r.Key, " made") && cmp.Diff([]string{"b"}, r.Values["columns_added"]) != "" {
			t.Errorf("columns %v", r.Values)
		}
	}
}

// TestDiffVirtual: a virtual table is one object of the schema. Its texts are compared, not its index,
// and no statement writes its tables.
func TestDiffVirtual(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.version("v1", "")
	w.exec("v1", `database-shop: CREATE VIRTUAL TABLE docs USING fts5(title, body); INSERT INTO docs VALUES ('a', 'one two'), ('b', 'three');
		CREATE TABLE texts(id INTEGER PRIMARY KEY, t); CREATE VIRTUAL TABLE found USING fts5(t, content='texts', content_rowid='id'); CREATE VIRTUAL TABLE bare USING fts5(t, content='');
		CREATE VIRTUAL TABLE boxes USING rtree(id, a, b)`)
	w.version("v2", "v1")
	w.exec("v2", `database-shop: UPDATE docs SET body = 'four' WHERE title = 'b'; INSERT INTO texts VALUES (1, 'x'); INSERT INTO found(rowid, t) VALUES (1, 'x'); INSERT INTO bare(rowid, t) VALUES (1, 'y');
		INSERT INTO boxes VALUES (1, 0, 1); CREATE VIRTUAL TABLE more USING fts5(x); INSERT INTO more VALUES ('z')`)
	records, _, err := w.diff(svc.DataDiff{Ref: ref("v2"), Rows: true})
	var got []string
	for _, r := range records {
		if r.SQL != "" {
			got = append(got, r.SQL)
		}
		if r.Counts != nil {
			got = append(got, summary([]svc.ExportRecord{r})...)
		}
	}
	want := []string{
		"CREATE VIRTUAL TABLE more USING fts5(x)",
		"row shop bare_data +1 ~2 -0", "row shop boxes_node +0 ~1 -0", "row shop docs_content +0 ~1 -0", "row shop more_content +1 ~0 -0",
		`INSERT INTO "texts" ("id", "t") VALUES (1, 'x')`, "row shop texts +1 ~0 -0",
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
}

// TestDiffSchemaSpaces: spaces between words are no difference, and spaces in texts are one.
func TestDiffSchemaSpaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.version("v1", "")
	w.exec("v1", `database-shop: CREATE TABLE text(a DEFAULT 'x  y'); CREATE TABLE "two  spaces"(a); CREATE TABLE same(a,  b); CREATE VIEW seen AS SELECT  "it's",  1`)
	w.version("v2", "v1")
	w.exec("v2", "database-shop: DROP TABLE text; CREATE TABLE text(a DEFAULT 'x y'); DROP TABLE same; CREATE TABLE same(a,\n b); DROP VIEW seen; CREATE VIEW seen AS SELECT \"it's\", 1")
	records, _, err := w.diff(svc.DataDiff{Ref: ref("v2")})
	if d := cmp.Diff([]string{"schema update shop text table text"}, summary(records)); d != "" || err != nil {
		t.Error(d, err)
	}
}

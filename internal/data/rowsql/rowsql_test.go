package rowsql_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/data/rowsql"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

const pageSize = 4096

// image is a database file in memory.
type image []byte

func (i image) PageSize() int { return pageSize }
func (i image) Pages() uint32 { return uint32(len(i) / pageSize) }

func (i image) ReadEach(_ context.Context, pages []uint32, fn func(uint32, []byte) error) error {
	for _, pgno := range pages {
		if err := fn(pgno, i[int(pgno-1)*pageSize:int(pgno)*pageSize]); err != nil {
			return err
		}
	}
	return nil
}

type database struct {
	t    *testing.T
	path string
	conn *raw.Conn
}

func create(t *testing.T, content []byte) *database {
	t.Helper()
	d := &database{t: t, path: filepath.Join(t.TempDir(), "db")}
	if err := os.WriteFile(d.path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if d.conn, err = raw.Open(d.path, raw.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.conn.Close() })
	d.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
	return d
}

func (d *database) exec(sql string) {
	d.t.Helper()
	if err := d.conn.Script(sql); err != nil {
		d.t.Fatalf("%s: %v", sql, err)
	}
}

func (d *database) image() image {
	d.t.Helper()
	content, err := os.ReadFile(d.path)
	if err != nil {
		d.t.Fatal(err)
	}
	return content
}

// dump returns all rows of all tables, with the types of their values.
func (d *database) dump() (lines []string) {
	d.t.Helper()
	var tables []string
	d.query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", func(s *raw.Stmt) { tables = append(tables, s.Text(0)) })
	for _, table := range tables {
		d.query(`SELECT * FROM "`+strings.ReplaceAll(table, `"`, `""`)+`"`, func(s *raw.Stmt) {
			line := table + ":"
			for i := range s.Columns() {
				line += fmt.Sprintf(" %s=%v %q", s.ColumnName(i), s.ColumnType(i), s.Text(i))
			}
			lines = append(lines, line)
		})
	}
	slices.Sort(lines)
	return lines
}

func (d *database) query(sql string, row func(*raw.Stmt)) {
	d.t.Helper()
	if err := d.conn.Query(sql, nil, func(s *raw.Stmt) error { row(s); return nil }); err != nil {
		d.t.Fatalf("%s: %v", sql, err)
	}
}

// changes returns the changes from one state to another.
func changes(t *testing.T, was, is image) (list []rowsql.Change, created []string) {
	t.Helper()
	tables, err := rowsql.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	images := rowdiff.Images{
		Base: was, Now: is, Same: func(uint32) bool { return false },
		Row: func(r rowdiff.Row) error {
			if r.BaseSQL == "" && !slices.Contains(created, rowsql.IfMissing(r.NowSQL)) {
				created = append(created, rowsql.IfMissing(r.NowSQL))
			}
			c, err := tables.Change(r)
			list = append(list, c)
			return err
		},
	}
	if _, err := rowdiff.Compare(t.Context(), images, rowdiff.Limits{Pages: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	return list, created
}

const schema = `
CREATE TABLE plain(id INTEGER PRIMARY KEY, a TEXT, b BLOB, r REAL, any);
CREATE TABLE none(a, b);
CREATE TABLE "odd "" name"("a b" TEXT PRIMARY KEY, "select", rowid);
CREATE TABLE descending(id INTEGER PRIMARY KEY DESC, v);
CREATE TABLE bare(n INT, k TEXT COLLATE NOCASE, v, w, PRIMARY KEY (k, n)) WITHOUT ROWID;
CREATE TABLE made(id INTEGER PRIMARY KEY, a INT, twice INT AS (a * 2), kept INT AS (a * 3) STORED, z);
CREATE TABLE strict(id INTEGER PRIMARY KEY, d ANY, f REAL) STRICT;
CREATE TABLE pair(a INT, b INT, v, PRIMARY KEY (a, b));
CREATE TABLE grown(id INTEGER PRIMARY KEY, v);
CREATE TABLE gone(id INTEGER PRIMARY KEY);
INSERT INTO plain VALUES (1, 'x', x'00', 2.0, 3), (2, 'y', NULL, 0.5, 'text'), (3, 'z', NULL, NULL, NULL);
INSERT INTO none VALUES (1, 1), (2, 2), (NULL, NULL);
INSERT INTO "odd "" name" VALUES ('it''s', 1, 2), ('b', 3, 4), (NULL, 5, 6);
INSERT INTO descending VALUES (5, 'five'), (6, 'six');
INSERT INTO bare VALUES (1, 'k', 1, 1), (2, 'K', 2, 2), (3, 'other', 3, 3);
INSERT INTO made(id, a, z) VALUES (1, 1, 'a'), (2, 2, 'b');
INSERT INTO strict VALUES (1, 1, 1), (2, '1', 1.5);
INSERT INTO pair VALUES (1, 1, 'a'), (1, 2, 'b');
INSERT INTO grown VALUES (1, 'short'), (2, 'short');
INSERT INTO gone VALUES (1);`

// TestRepeat: the statements repeat all changes in a copy of the first state, in tables of
// every form.
func TestRepeat(t *testing.T) {
	t.Parallel()
	db := create(t, nil)
	db.exec(schema)
	was := db.image()
	db.exec(`
		UPDATE plain SET a = 'it''s ' || char(0) || 'x', r = 3 WHERE id = 1; DELETE FROM plain WHERE id = 2;
		INSERT INTO plain VALUES (-9223372036854775808, CAST(x'ff61' AS TEXT), x'', 9e999, -9e999), (9007199254740993, '9007199254740993', x'ff', 0.1, 9007199254740993);
		INSERT INTO plain(any) VALUES (123456789.125), (1e300), ('ünï'), (-0.0);
		UPDATE none SET b = 'two' WHERE a = 2; DELETE FROM none WHERE a IS NULL; INSERT INTO none VALUES (4, NULL);
		UPDATE "odd "" name" SET "select" = 9 WHERE "a b" IS NULL; DELETE FROM "odd "" name" WHERE "a b" = 'b'; UPDATE "odd "" name" SET "a b" = 'its' WHERE rowid = 2;
		UPDATE descending SET v = 'cinco' WHERE id = 5; DELETE FROM descending WHERE id = 6; INSERT INTO descending VALUES (7, 'seven');
		UPDATE bare SET w = 'w' WHERE n = 2; DELETE FROM bare WHERE n = 1; INSERT INTO bare VALUES (4, 'four', 4, NULL);
		UPDATE made SET a = 5 WHERE id = 1; INSERT INTO made(a, z) VALUES (7, NULL);
		UPDATE strict SET d = x'31' WHERE id = 2; INSERT INTO strict VALUES (3, 3.5, 3);
		UPDATE pair SET b = 3 WHERE b = 2; INSERT INTO pair VALUES (2, 1, 'c');
		UPDATE grown SET v = 'long' WHERE id = 1;
		DELETE FROM gone;
		CREATE TABLE new(id INTEGER PRIMARY KEY, v); INSERT INTO new VALUES (1, 'a');`)
	list, created := changes(t, was, db.image())
	if len(created) != 1 || created[0] != "CREATE TABLE IF NOT EXISTS new(id INTEGER PRIMARY KEY, v)" {
		t.Errorf("created %q", created)
	}
	other := create(t, was)
	for _, sql := range append(created, created...) { // the second one does nothing
		other.exec(sql)
	}
	for _, c := range list {
		before := other.conn.TotalChanges()
		other.exec(c.SQL)
		if n := other.conn.TotalChanges() - before; n != 1 {
			t.Errorf("%s: %d rows changed", c.SQL, n)
		}
	}
	if d := cmp.Diff(db.dump(), other.dump()); d != "" {
		t.Error(d)
	}
}

// TestStatements: an UPDATE sets the columns that changed alone.
func TestStatements(t *testing.T) {
	t.Parallel()
	db := create(t, nil)
	db.exec(schema)
	was := db.image()
	db.exec(`UPDATE plain SET r = 3 WHERE id = 1; DELETE FROM none WHERE a = 1; INSERT INTO bare VALUES (4, 'four', 4, NULL);
		ALTER TABLE grown ADD COLUMN w DEFAULT 7; UPDATE grown SET v = 'x' WHERE id = 1; INSERT INTO made(a) VALUES (7)`)
	list, _ := changes(t, was, db.image())
	var got []string
	for _, c := range list {
		got = append(got, fmt.Sprintf("%s %v %v %s", c.Op, c.Key, c.Values, c.SQL))
	}
	want := []string{
		`insert [{k four} {n 4}] [{k four} {n 4} {v 4} {w <nil>}] INSERT INTO "bare" ("k", "n", "v", "w") VALUES ('four', 4, 4, NULL)`,
		`update [{id 1}] [{id 1} {v x} {w 7}] UPDATE "grown" SET "v" = 'x', "w" = 7 WHERE "id" IS 1`,
		`insert [{id 3}] [{id 3} {a 7} {z <nil>}] INSERT INTO "made" ("id", "a", "z") VALUES (3, 7, NULL)`,
		`delete [{rowid 1}] [] DELETE FROM "none" WHERE "rowid" IS 1`,
		`update [{id 1}] [{id 1} {a x} {b [0]} {r 3} {any 3}] UPDATE "plain" SET "r" = 3.0 WHERE "id" IS 1`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestColumns: a row that is shorter than its table has the columns that it was written with;
// a longer one, and a table that SQLite does not accept, are errors.
func TestColumns(t *testing.T) {
	t.Parallel()
	tables, err := rowsql.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	const sql = "CREATE TABLE t(id INTEGER PRIMARY KEY, v, w DEFAULT 1)"
	got, err := tables.Columns(sql, rowdiff.Record{RowID: 4, Values: []rowdiff.Value{nil, "x"}})
	if d := cmp.Diff([]rowsql.Column{{Name: "id", Value: int64(4)}, {Name: "v", Value: "x"}}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if _, err := tables.Columns(sql, rowdiff.Record{Values: make([]rowdiff.Value, 4)}); !errors.Is(err, rowdiff.ErrCorrupt) {
		t.Errorf("too long: %v", err)
	}
	for _, sql := range []string{"", "DROP TABLE t", "CREATE TABLE t(", "CREATE TABLE t(a); CREATE TABLE u(a)"} {
		if _, err := tables.Columns(sql, rowdiff.Record{}); !errors.Is(err, rowsql.ErrTable) {
			t.Errorf("%q: %v", sql, err)
		}
	}
}

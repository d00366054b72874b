package database_test

import (
	"fmt"
	"strings"
	"testing"
)

// Scripts as programs and people write them.
func TestImportScripts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"nothing":     {"", "[[0 0]]"},
		"comments":    {"-- nothing; yet\n/* nor ; here */ ;;\n", "[[0 0]]"},
		"no newline":  {"create table t(a); insert into t values (1)", "[[1 1]]"},
		"bom":         {"\ufeffcreate table t(a); insert into t values (1);", "[[1 1]]"},
		"crlf":        {"create table t(a);\r\ninsert into t\r\nvalues (1);\r\n-- end\r\n", "[[1 1]]"},
		"wrangler":    {"PRAGMA defer_foreign_keys=TRUE;\nCREATE TABLE t(a REFERENCES \"p\"(a));\nINSERT INTO \"t\" (\"a\") VALUES(1);\nCREATE TABLE IF NOT EXISTS \"p\"(a PRIMARY KEY);\nINSERT INTO \"p\" (\"a\") VALUES(1);\nDELETE FROM sqlite_sequence;", ""},
		"counted":     {"PRAGMA defer_foreign_keys=TRUE;\nCREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT);\nINSERT INTO t VALUES(7);\nDELETE FROM sqlite_sequence;\nINSERT INTO sqlite_sequence VALUES('t',7);", "[[1 7]]"},
		"settings":    {"pragma foreign_keys = off; begin exclusive transaction; create table t(a); insert into t values (1); end transaction; begin; insert into t values (2); commit; pragma foreign_keys = on;", "[[2 3]]"},
		"any order":   {"create table t(a references p(a)); create table p(a primary key); insert into t values (1); insert into p values (1);", "[[1 1]]"},
		"cascade":     {"create table p(a primary key); create table t(a references p(a) on delete cascade); insert into p values (1),(2); insert into t values (1),(2); delete from p where a = 1;", "[[1 2]]"},
		"unistr":      {`create table t(a); insert into t values (length(unistr('a\u001bb')));`, "[[1 3]]"},
		"trigger":     {"create table t(a);\ncreate temp table x(a);", ""},
		"triggers":    {"create table t(a); create trigger tr after insert on t when NEW.a < 3 begin\n insert into t values (case when NEW.a then NEW.a + 1 else 0 end); -- end;\n select 'a;end;'; end; insert into t values (1);", "[[2 3]]"},
		"explain":     {"explain create trigger x after insert on t begin select 1; end;", ""},
		"miniflare":   {"CREATE TABLE _cf_METADATA (\n key INTEGER PRIMARY KEY,\n value BLOB\n);\nINSERT INTO _cf_METADATA VALUES(2,1);\nINSERT INTO \"_cf_KV\" VALUES('a',X'00');\nCREATE TABLE IF NOT EXISTS \"_cf_KV\" (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;\nCREATE TABLE t(a); INSERT INTO t VALUES (1);", "[[1 1]]"},
		"limit":       {"create table t(a); insert into t values (1),(2),(3); delete from t order by a limit 1;", "[[2 5]]"},
		"odd virtual": {"create table t(a); pragma writable_schema=on; insert into sqlite_schema(type,name,tbl_name,rootpage,sql) values ('table','u','u',0,'create table u(a)');", ""},
		"two in one":  {"create table t(a); insert into sqlite_schema(type,name,tbl_name,rootpage,sql) values ('table','u','u',0,'create virtual table u using fts5(x); drop table t');", ""},
		"no module":   {"insert into sqlite_master(type,name,tbl_name,rootpage,sql) values ('table','u','u',0,'create virtual table u using dbstat');", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := seeded(t, "DB.sql", c.text)
			if c.want == "" && name != "wrangler" {
				if err == nil {
					t.Error("it is taken")
				}
				wantRows(t, db, "[[0]]", "select count(*) from sqlite_master")
				return
			}
			if name == "wrangler" { // no table counts there, so it has no such table: the exports of wrangler have it only then
				if err == nil || !strings.Contains(err.Error(), "line 6: no such table: sqlite_sequence") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.want != "[[0 0]]" {
				wantRows(t, db, c.want, "select count(*), sum(a) from t")
			}
		})
	}
}

// The largest row that a database takes comes over, in both forms; a larger one
// is named.
func TestImportLargeRow(t *testing.T) {
	t.Parallel()
	const most = 1_999_980 // with the row's own head it is within the limit
	literal := "create table t(a); insert into t values (X'" + strings.Repeat("ab", most) + "');"
	for name, text := range map[string]string{
		"DB.sql":    literal,
		"DB.sqlite": databaseFile(t, literal),
	} {
		db, err := seeded(t, name, text)
		if err != nil {
			t.Fatalf("%s: %.300v", name, err)
		}
		wantRows(t, db, fmt.Sprintf("[[%d]]", most), "select length(a) || '' from t")
	}
	file := databaseFile(t, "create table t(a, b); insert into t(rowid, a) values (3, 1), (9, zeroblob(2000001))")
	if _, err := seeded(t, "DB.sqlite", file); err == nil || !strings.Contains(err.Error(), "seed/DB.sqlite: table t, row 9: more than 2000000 bytes: SQLITE_TOOBIG") {
		t.Errorf("got %v", err)
	}
	file = databaseFile(t, "create table t(k primary key, a, b) without rowid; insert into t values (1, zeroblob(1500000), zeroblob(1500000))")
	if _, err := seeded(t, "DB.sqlite", file); err == nil || !strings.Contains(err.Error(), "table t, row no. 1: more than 2000000 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestImportFileFails(t *testing.T) {
	t.Parallel()
	const schemaOnly = "pragma writable_schema = on; insert into sqlite_schema(type, name, tbl_name, rootpage, sql) values "
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint("c", i)
	}
	cut := databaseFile(t, "create table t(a); with recursive c(x) as (select 1 union all select x+1 from c limit 5000) insert into t select x from c; create index i on t(a)")
	for name, c := range map[string]struct{ content, want string }{
		"module":       {databaseFile(t, schemaOnly+"('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING vec0(a float[3])')"), "table v: it is a virtual table of vec0, which is not available; fts5, fts5vocab, rtree, rtree_i32 are"},
		"tokenizer":    {databaseFile(t, schemaOnly+"('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING fts5(a, tokenize=icu)')"), "the file cannot be read: vtable constructor failed: v"},
		"cut":          {cut[:len(cut)/2], "database disk image is malformed"},
		"flipped":      {cut[:9000] + strings.Repeat("\x7f", 3000) + cut[12000:], "seed/DB.sqlite: the file fails its integrity check: Tree 2"},
		"garbage":      {"SQLite format 3\x00" + strings.Repeat("x", 5000), "seed/DB.sqlite: the file cannot be read: "},
		"a header":     {"SQLite format 3\x00", "the file cannot be read: "},
		"constraint":   {databaseFile(t, "pragma ignore_check_constraints = on; create table t(a check (a > 1)); insert into t values (0)"), "table t, row 1: CHECK constraint failed: a > 1"},
		"foreign key":  {databaseFile(t, "create table p(a primary key); create table t(a references p); insert into t values (1)"), "FOREIGN KEY constraint failed: row 1 of t refers to a row of p that is not there"},
		"bare":         {databaseFile(t, "create table p(a primary key); create table t(a primary key references p) without rowid; insert into t values (1)"), "a row of t refers to a row of p"},
		"no parent":    {databaseFile(t, "create table t(a references gone); insert into t values (1)"), "row 1 of t refers to a row of gone"},
		"columns":      {databaseFile(t, "create table t("+strings.Join(many, ",")+")"), "table t: too many columns on t"},
		"function":     {databaseFile(t, "create table t(a, b as (json_error_position(a)))"), "not authorized to use function: json_error_position"},
		"no page":      {databaseFile(t, schemaOnly+"('table', 't', 't', 2, 'CREATE TABLE t(a)')"), "the file cannot be read: malformed database schema (t)"},
		"two in one":   {databaseFile(t, "create table u(a); "+schemaOnly+"('view', 'v', 'v', 0, 'CREATE VIEW v AS SELECT 1; DROP TABLE u')"), "malformed database schema (v)"},
		"empty schema": {databaseFile(t, "create table u(a); "+schemaOnly+"('view', 'v', 'v', 0, '-- nothing')"), "malformed database schema (v)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := seeded(t, "DB.sqlite", c.content)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			wantRows(t, db, "[[0]]", "select count(*) from sqlite_master")
		})
	}
}

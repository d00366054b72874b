package database_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// seeds writes files of binding DB and gives them as a bundle has them, in the
// order of names.
func seeds(t testing.TB, texts map[string]string, names ...string) (bundle.Seeds, string) {
	t.Helper()
	dir := t.TempDir()
	s := bundle.Seeds{Binding: "DB"}
	for _, name := range names {
		s.Files = append(s.Files, bundle.File{Path: "seed/" + name})
		path := filepath.Join(dir, "seed", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(texts[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s, dir
}

func seed(t *testing.T, in binding.Instance, s bundle.Seeds, dir string) ([]string, error) {
	t.Helper()
	done, err := as[binding.Seeder](t, in).Seed(t.Context(), s, os.DirFS(dir))
	return fileTexts(done), err
}

// fileTexts is what each file says.
func fileTexts(files []svc.SeedFile) []string {
	var list []string
	for _, f := range files {
		list = append(list, f.String())
	}
	return list
}

// as is in as another of the interfaces that it has.
func as[T any](t *testing.T, in binding.Instance) T {
	t.Helper()
	other, ok := in.(T)
	if !ok {
		t.Fatalf("%T is no %T", in, other)
	}
	return other
}

// seeded seeds a new database with one file.
func seeded(t *testing.T, name, text string) (binding.Instance, error) {
	t.Helper()
	db := open(t, t.TempDir())
	s, dir := seeds(t, map[string]string{name: text}, name)
	_, err := seed(t, db, s, dir)
	return db, err
}

// databaseFile is a SQLite file that text makes.
func databaseFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.sqlite")
	c, err := raw.Open(path, raw.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Script(text), c.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSeed(t *testing.T) { //nolint:tparallel // a directory is one process's at a time
	t.Parallel()
	texts := map[string]string{
		"DB/0001_a.sql": "create table t(a);\ninsert into t values (1);",
		"DB/0002_b.sql": "insert into t values (2);",
		"DB.sqlite":     databaseFile(t, "create table f(a); insert into f values (7); pragma user_version = 5"),
	}
	s, files := seeds(t, texts, "DB/0001_a.sql", "DB/0002_b.sql", "DB.sqlite")
	dir := t.TempDir()
	for _, wants := range [][][]string{{{"seed/DB/0001_a.sql", "seed/DB/0002_b.sql", "seed/DB.sqlite"}, nil}, {nil}} {
		t.Run("open", func(t *testing.T) {
			db := open(t, dir)
			for _, want := range wants {
				got, err := seed(t, db, s, files)
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("imported %v, %v; want %v", got, err, want)
				}
			}
			wantRows(t, db, "[[1] [2] [7]]", "select a from t union all select a from f")
		})
	}
}

// What remembers the seeds is not a user's to read or change, and is in the way
// of nothing.
func TestSeedMarks(t *testing.T) {
	t.Parallel()
	db, err := seeded(t, "DB.sql", "create table t(a);")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"select * from _cf_seed", "select path from \"_CF_SEED\"", "insert into _cf_seed(path) values ('x')", "delete from _cf_seed",
		"drop table _cf_seed", "alter table _cf_seed rename to seen", "create view v as select 1 from _cf_seed; select * from v",
		"create trigger tr after insert on t begin delete from _cf_seed; end; insert into t values (1)",
		"create table _cf_other(a)", "alter table t rename to _cf_t", "create index i on _cf_seed(imported_at)",
	} {
		if got := ask(t, db, text); got.Success {
			t.Errorf("%s: %+v", text, got)
		}
	}
	rows(t, db, "alter table t rename to u")
	wantRows(t, db, "[]", "select * from u")
	if _, err := migrate(t, db, map[string]string{"1.sql": "alter table u add column b; alter table u rename to w"}, "1.sql"); err != nil {
		t.Error(err)
	}
	stats, err := as[binding.Measured](t, db).Stats(t.Context())
	if err != nil || stats["tables"] != 2 {
		t.Errorf("%v, %v: want w and d1_migrations", stats, err)
	}
}

// A table that was renamed into the place of the marks is refused also
// where none are.
func TestSeedMarksCannotBeMade(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	rows(t, db, "create table t(path TEXT PRIMARY KEY, imported_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP) WITHOUT ROWID")
	if got := ask(t, db, "alter table t rename to _cf_seed"); got.Success {
		t.Errorf("%+v", got)
	}
}

func TestSeedFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, want string }{
		"syntax":      {"DB.sql", "create table u(a);\n-- then\n  creat table v(a);\n", `seed/DB.sql: line 3: near "creat": syntax error at offset 10: SQLITE_ERROR: creat table v(a)`},
		"late":        {"DB.sql", "create table u(a);\n\n" + strings.Repeat("insert into u values (1);\n", 1000) + "insert into nope\nvalues (1);", "seed/DB.sql: line 1003: no such table: nope: SQLITE_ERROR: insert into nope values (1)"},
		"constraint":  {"DB.sql", "create table u(a primary key); insert into u values(1);\ninsert into u values(1);", "line 2: UNIQUE constraint failed: u.a"},
		"foreign key": {"DB.sql", "create table u(a references t(b)); create table t(b primary key); insert into u values(99);", "FOREIGN KEY constraint failed: row 1 of u refers to a row of t that is not there"},
		"savepoint":   {"DB.sql", "create table u(a); savepoint x; create table v(a);", "please use the state.storage.transaction()"},
		"rollback":    {"DB.sql", "begin; create table u(a);\nrollback; -- due to errors", "line 2: the script takes itself back with ROLLBACK"},
		"attach":      {"DB.sql", "create table u(a); attach 'x' as y;", "not authorized"},
		"parameter":   {"DB.sql", "create table u(a); insert into u values(?);", "Wrong number of parameter bindings"},
		"platform":    {"DB.sql", "create table u(a); alter table u rename to _cf_u;", "not authorized"},
		"schema":      {"DB.sql", "create table u(a); pragma writable_schema=on; delete from sqlite_schema;", "table sqlite_master may not be modified"},
		"no end":      {"DB.sql", "create table u(a);\ninsert into u values ('abc", `line 2: unrecognized token: "'abc"`},
		"zero byte":   {"DB.sql", "create table u(a);\x00 select 1;", "a zero byte is not SQL"},
		"utf-16":      {"DB.sql", "\xff\xfec\x00r\x00", "seed/DB.sql: the script is UTF-16: save it as UTF-8"},
		"too long":    {"DB.sql", "create table u(a);\n\n--\n insert into u values ('" + strings.Repeat("x", 16<<20) + "');", "line 4: the statement is longer than 16777216 bytes: insert into u values"},
		"row":         {"DB.sql", "create table u(a); insert into u values (zeroblob(2000001));", "string or blob too big"},
		"other form":  {"DB.sql", databaseFile(t, "create table u(a)"), "seed/DB.sql: it is a SQLite file: name it .sqlite"},
		"no file":     {"DB.sqlite", "create table u(a);", "seed/DB.sqlite: it is no SQLite file"},
		"empty file":  {"DB.db", "", "seed/DB.db: it is no SQLite file"},
		"csv":         {"DB.csv", "a,b", "seed/DB.csv: a database is seeded by .sql, .sqlite and .db files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t, t.TempDir())
			s, files := seeds(t, map[string]string{"DB/0.sql": "create table first(a);", c.file: c.text, "DB/2.sql": "create table w(a);"}, "DB/0.sql", c.file, "DB/2.sql")
			got, err := seed(t, db, s, files)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if !errors.Is(err, svc.Unprocessable) || svc.CodeOf(err) != "seed_failed" || !strings.Contains(err.Error(), "nothing of this file was imported") {
				t.Errorf("got kind of %#v", svc.AsError(err))
			}
			if !slices.Equal(got, []string{"seed/DB/0.sql"}) {
				t.Errorf("imported %v", got)
			}
			wantRows(t, db, "[[first]]", "select name from sqlite_master where type = 'table' and name in ('first','t','u','v','w')")
			wantRows(t, db, "[[1]]", "pragma foreign_keys")
		})
	}
}

// What a migration of before is brought forward by the later ones, as its own
// table of applied ones says.
func TestSeedThenMigrate(t *testing.T) {
	t.Parallel()
	db, err := seeded(t, "DB.sql", `
		CREATE TABLE d1_migrations(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL);
		INSERT INTO d1_migrations (name) VALUES ('1.sql'), ('2.sql');
		CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2);`)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"1.sql": "create table t(a);", "2.sql": "alter table t add column b;", "3.sql": "alter table t add column c default 3;"}
	got, err := migrate(t, db, texts, "1.sql", "2.sql", "3.sql")
	if err != nil || !slices.Equal(got, []string{"3.sql"}) {
		t.Errorf("applied %v, %v", got, err)
	}
	wantRows(t, db, "[[1 2 3]]", "select * from t")
}

// An interrupted import is not reported as a mistake of the file, and leaves nothing.
func TestSeedInterrupted(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"DB.sql":    "create table t(a); with recursive c(x) as (select 1 union all select x+1 from c) insert into t select x from c;",
		"DB.sqlite": databaseFile(t, "create table t(a); with recursive c(x) as (select 1 union all select x+1 from c limit 50000) insert into t select x from c"),
	} {
		db := open(t, t.TempDir())
		s, files := seeds(t, map[string]string{name: text}, name)
		ctx, cancel := context.WithCancel(t.Context())
		dir := &interrupting{os.DirFS(files), cancel}
		_, err := as[binding.Seeder](t, db).Seed(ctx, s, dir)
		if !errors.Is(err, context.Canceled) || errors.Is(err, svc.Unprocessable) {
			t.Errorf("%s: got %v", name, err)
		}
		wantRows(t, db, "[[0]]", "select count(*) from sqlite_master")
		wantRows(t, db, "[[1]]", "pragma foreign_keys")
	}
}

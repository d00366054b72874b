package database_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// migrations are files of binding DB, in the order of names.
func migrations(texts map[string]string, names ...string) (bundle.Migrations, fstest.MapFS) {
	m, files := bundle.Migrations{Binding: "DB", Table: "d1_migrations"}, fstest.MapFS{}
	for _, name := range names {
		path := bundle.MigrationPath("DB", name)
		m.Files = append(m.Files, bundle.File{Path: path})
		files[path] = &fstest.MapFile{Data: []byte(texts[name])}
	}
	return m, files
}

func migrate(t *testing.T, in binding.Instance, texts map[string]string, names ...string) ([]string, error) {
	t.Helper()
	m, files := migrations(texts, names...)
	mig, ok := in.(binding.Migrator)
	if !ok {
		t.Fatal("a database takes no migrations")
	}
	return mig.Migrate(t.Context(), m, files)
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"0001_init.sql": "-- Migration number: 0001\ncreate table t(a);\ncreate trigger tr after insert on t begin select 1; end;\n\ninsert into t values ('x;y');\n-- end\n",
		"0002_more.sql": "alter table t add column b default 7;",
		"0003_none.sql": "-- nothing yet\n",
	}
	dir := t.TempDir()
	db := open(t, dir)
	for _, want := range [][]string{{"0001_init.sql", "0002_more.sql"}, nil} {
		got, err := migrate(t, db, texts, "0001_init.sql", "0002_more.sql")
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("applied %v, %v; want %v", got, err, want)
		}
	}
	db = open(t, dir)
	got, err := migrate(t, db, texts, "0001_init.sql", "0002_more.sql", "0003_none.sql")
	if err != nil || !slices.Equal(got, []string{"0003_none.sql"}) {
		t.Fatalf("after reopening: applied %v, %v", got, err)
	}
	wantRows(t, db, "[[x;y 7]]", "select a, b from t")
	wantRows(t, db, "[[1 0001_init.sql text 19] [2 0002_more.sql text 19] [3 0003_none.sql text 19]]",
		"select id, name, typeof(applied_at), length(applied_at) from d1_migrations order by id")
}

func TestMigrateFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"syntax":      {"create table u(a);\n-- then\n  creat table v(a);\n", `migration 0002_bad.sql of DB: line 3: near "creat": syntax error at offset 10: SQLITE_ERROR: creat table v(a)`},
		"constraint":  {"create table u(a);\ninsert into t values(1)", "line 2: UNIQUE constraint failed: t.a: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE): insert into t values(1)"},
		"deferred":    {"pragma defer_foreign_keys=on; create table u(a references t(a)); insert into u values(99)", "FOREIGN KEY constraint failed"},
		"transaction": {"create table u(a); commit; create table v(a)", "please use the state.storage.transaction()"},
		"parameter":   {"create table u(a); insert into u values(?)", "Wrong number of parameter bindings"},
		"attach":      {"create table u(a); attach 'x' as y", "not authorized"},
		"platform":    {"create table u(a); alter table u rename to _cf_u", "not authorized"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t, t.TempDir())
			texts := map[string]string{"0001_ok.sql": "create table t(a unique); insert into t values(1)", "0002_bad.sql": c.text, "0003_after.sql": "create table w(a)"}
			got, err := migrate(t, db, texts, "0001_ok.sql", "0002_bad.sql", "0003_after.sql")
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "0002_bad.sql") {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if !errors.Is(err, svc.Unprocessable) || svc.CodeOf(err) != "migration_failed" {
				t.Errorf("got kind of %#v", svc.AsError(err))
			}
			if !slices.Equal(got, []string{"0001_ok.sql"}) {
				t.Errorf("applied %v", got)
			}
			wantRows(t, db, "[[t]]", "select name from sqlite_master where type = 'table' and name in ('t','u','v','w')")
			wantRows(t, db, "[[0001_ok.sql]]", "select name from d1_migrations")
		})
	}
}

// A large file takes time in proportion to its size.
func TestMigrateLarge(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("create table t(a, b);\n")
	for i := range 20_000 {
		fmt.Fprintf(&text, "insert into t values (%d, 'a row of a large seed file, some eighty bytes of text in all .....');\n", i)
	}
	db := open(t, t.TempDir())
	if _, err := migrate(t, db, map[string]string{"a.sql": text.String()}, "a.sql"); err != nil {
		t.Fatal(err)
	}
	wantRows(t, db, "[[20000]]", "select count(*) from t")
}

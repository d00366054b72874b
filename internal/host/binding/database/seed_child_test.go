package database_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/svc"
)

// wantSeeds seeds db with files of these texts and checks what is said of them.
func wantSeeds(t *testing.T, db binding.Instance, texts map[string]string, names []string, want ...string) {
	t.Helper()
	s, dir := seeds(t, texts, names...)
	if got, err := seed(t, db, s, dir); err != nil || !slices.Equal(got, want) {
		t.Errorf("imported %v, %v; want %v", got, err, want)
	}
}

// A child has the marks of its parent: it imports what is new, once, whatever
// became of the rows and of the text of a file that was imported before.
func TestSeedOfChild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	texts := map[string]string{"DB/1.sql": "create table t(a); insert into t values (1), (2)", "DB/2.sql": "insert into t values (3)"}
	db := open(t, dir)
	wantSeeds(t, db, texts, []string{"DB/1.sql"}, "seed/DB/1.sql")
	rows(t, db, "delete from t where a = 1")

	child := openChild(t, dir)
	wantSeeds(t, child, texts, []string{"DB/1.sql"})
	texts["DB/1.sql"] = "insert into t values (99)"
	wantSeeds(t, child, texts, []string{"DB/1.sql", "DB/2.sql"}, "seed/DB/2.sql")
	wantSeeds(t, child, texts, []string{"DB/1.sql", "DB/2.sql"})
	wantRows(t, child, "[[2] [3]]", "select a from t")
}

// The tables of a SQLite file do not mix with a parent's of the same name: the
// file is left out, for good. Where none is the same, it is imported.
func TestSeedOfChildFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	parent := open(t, dir)
	first := map[string]string{"DB0.sqlite": databaseFile(t, "create table Guests(a); pragma user_version = 7")}
	wantSeeds(t, parent, first, []string{"DB0.sqlite"}, "seed/DB0.sqlite")
	child := openChild(t, dir)
	texts := map[string]string{
		"DB.sqlite": databaseFile(t, "create table other(a); create table guests(a); insert into guests values (1)"),
		"DB.db":     databaseFile(t, "create table log(a primary key); insert into log values (7); pragma user_version = 1"),
	}
	names := []string{"DB.sqlite", "DB.db"}
	wantSeeds(t, child, texts, names, "seed/DB.sqlite (skipped: the data has guests already)", "seed/DB.db")
	wantRows(t, child, "[[Guests] [log]]", "select name from sqlite_schema where type = 'table' and name not like '\\_cf\\_%' escape '\\' order by name")
	rows(t, child, "drop table Guests")
	wantSeeds(t, child, texts, names)
	wantRows(t, child, "[[0] [1]]", "select count(*) from pragma_table_list where name = 'other' union all select count(*) from log")
	if n := userVersion(t, dir); n != 7 {
		t.Errorf("the user_version is %d", n)
	}
}

// A script that does not fit a parent's data fails, as on a root, and the error
// says what it has to fit.
func TestSeedOfChildFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows(t, open(t, dir), "create table t(a)")
	child := openChild(t, dir)
	s, files := seeds(t, map[string]string{"DB.sql": "create table u(a);\ncreate table t(a)"}, "DB.sql")
	_, err := seed(t, child, s, files)
	for _, want := range []string{"seed/DB.sql: line 2: table t already exists", "nothing of this file was imported", "the data of v1", "IF NOT EXISTS"} {
		if svc.CodeOf(err) != "seed_failed" || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	wantRows(t, child, "[]", "select name from sqlite_schema where name = 'u'")
}

// What a seed brings is no data of the parent, so a scrub that was done before
// leaves it, and is not done again; what the scrub took does not come back.
func TestSeedAfterScrub(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	texts := map[string]string{"DB/1.sql": "create table users(mail); insert into users values ('ann@example.com')", "DB/2.sql": "create table copies as select * from users; insert into users values ('test')"}
	wantSeeds(t, open(t, dir), texts, []string{"DB/1.sql"}, "seed/DB/1.sql")
	child := openChild(t, dir)
	for _, want := range [][]string{{"seed/DB/2.sql"}, nil} {
		if err := scrub(t, child, "v2", "update users set mail = 'hidden'"); err != nil {
			t.Fatal(err)
		}
		wantSeeds(t, child, texts, []string{"DB/1.sql", "DB/2.sql"}, want...)
	}
	wantRows(t, child, "[[hidden] [test] [hidden]]", "select mail from users union all select mail from copies")
}

// userVersion reads what a worker may not.
func userVersion(t *testing.T, dir string) (n int64) {
	t.Helper()
	db, err := bindingtest.OpenVolumes(t, dir).Database(t.Context(), "database-db")
	if err == nil {
		err = db.Read(t.Context(), func(c *raw.Conn) error {
			return c.Query("PRAGMA user_version", nil, func(row *raw.Stmt) error { n = row.Int64(0); return nil })
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

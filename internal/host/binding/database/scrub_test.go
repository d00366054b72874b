package database_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/database"
	"github.com/svcctl/svcctl/internal/svc"
)

// openChild opens the database in dir as a child's.
func openChild(t *testing.T, dir string) binding.Instance {
	t.Helper()
	in, err := database.Kind{}.Open(t.Context(), bundle.Binding{Name: "DB", Kind: "database", Resource: "db"}, bindingtest.Inherited{Volumes: bindingtest.OpenVolumes(t, dir)})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func scrub(t *testing.T, in binding.Instance, id, sql string) error {
	t.Helper()
	s, ok := in.(binding.Scrubber)
	if !ok {
		t.Fatal("a database cannot be scrubbed")
	}
	return s.Scrub(t.Context(), "DB", id, func() (string, error) { return sql, nil })
}

func TestScrub(t *testing.T) {
	t.Parallel()
	db := openChild(t, t.TempDir())
	wantRows(t, db, "[]", "create table users(id integer primary key, mail text, visits int)")
	wantRows(t, db, "[]", "insert into users(mail, visits) values('ann@example.com', 1), ('bob@example.com', 2)")
	const sql = "-- people\nupdate users set mail = 'user' || id, visits = visits + 1;\ndelete from users where visits > 2;\n"
	for range 2 { // once, also when the deploy is resumed
		if err := scrub(t, db, "v2", sql); err != nil {
			t.Fatal(err)
		}
		wantRows(t, db, "[[user1 2]]", "select mail, visits from users")
	}
	// Migrations follow, and what they do is left alone.
	if _, err := migrate(t, db, map[string]string{"0002.sql": "alter table users rename to people"}, "0002.sql"); err != nil {
		t.Fatal(err)
	}
	if err := scrub(t, db, "v2", sql); err != nil {
		t.Error(err)
	}
	// Another fork of production has another id.
	if err := scrub(t, db, "v3", "delete from people"); err != nil {
		t.Fatal(err)
	}
	wantRows(t, db, "[]", "select * from people")
	wantRows(t, db, "[[d1_migrations] [people]]", "select name from pragma_table_list where schema = 'main' and name not like '\\_cf\\_%' escape '\\' and name not like 'sqlite%' order by name")
}

// A scrub that fails leaves everything, its mark among it, as it was.
func TestScrubFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ sql, want string }{
		"no such table": {"update users set mail = '';\ndelete from absent;", "scrubbing DB: line 2: no such table: absent: SQLITE_ERROR: delete from absent"},
		"syntax":        {"update users set mail = '';\n\nupdate users sett mail = ''", "scrubbing DB: line 3: near \"sett\": syntax error"},
		"transaction":   {"update users set mail = ''; commit", "please use the state.storage.transaction()"},
		"platform":      {"update users set mail = ''; drop table _cf_seed", "not authorized"},
		"attach":        {"update users set mail = ''; attach '/etc/passwd' as p", "not authorized"},
		"deferred":      {"pragma defer_foreign_keys = on; create table t(a references users(id)); insert into t values (7)", "FOREIGN KEY constraint failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := openChild(t, t.TempDir())
			wantRows(t, db, "[]", "create table users(id integer primary key, mail text)")
			wantRows(t, db, "[]", "insert into users(mail) values('ann@example.com')")
			if err := scrub(t, db, "v0", "select 1"); err != nil { // so that _cf_seed is there
				t.Fatal(err)
			}
			err := scrub(t, db, "v2", tc.sql)
			if svc.CodeOf(err) != "scrub_failed" || !errors.Is(err, svc.Unprocessable) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			wantRows(t, db, "[[ann@example.com]]", "select mail from users")
			if err := scrub(t, db, "v2", "delete from users"); err != nil {
				t.Error(err)
			}
			wantRows(t, db, "[]", "select mail from users")
		})
	}
}

// What is not production's is not scrubbed, not later either.
func TestScrubNothing(t *testing.T) {
	t.Parallel()
	never := func() (string, error) {
		t.Error("the SQL was asked for")
		return "", nil
	}
	for name, open := range map[string]func(*testing.T, string) binding.Instance{"new": open, "without tables": openChild} {
		dir := t.TempDir()
		s, ok := open(t, dir).(binding.Scrubber)
		if !ok {
			t.Fatal("a database cannot be scrubbed")
		}
		if err := s.Scrub(t.Context(), "DB", "v2", never); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		grandchild := openChild(t, dir)
		wantRows(t, grandchild, "[]", "create table orders(id)")
		wantRows(t, grandchild, "[]", "insert into orders values(1)")
		if err := scrub(t, grandchild, "v2", "delete from orders"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantRows(t, grandchild, "[[1]]", "select id from orders")
	}
}

func TestScrubSQLIsMissing(t *testing.T) {
	t.Parallel()
	db := openChild(t, t.TempDir())
	wantRows(t, db, "[]", "create table users(id)")
	s, ok := db.(binding.Scrubber)
	if !ok {
		t.Fatal("a database cannot be scrubbed")
	}
	missing := svc.Errorf(svc.Unprocessable, "scrub_missing", "no section")
	if err := s.Scrub(t.Context(), "DB", "v2", func() (string, error) { return "", missing }); svc.CodeOf(err) != "scrub_missing" {
		t.Errorf("got %v", err)
	}
}

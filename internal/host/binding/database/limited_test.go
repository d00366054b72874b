package database_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/database"
)

// Where this engine cannot do what D1's does it says so, and does nothing.
func TestLimitRefused(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	rows(t, db, "create table t(rowid, oid, _rowid_)")
	rows(t, db, "insert into t values(1,1,1)")
	rows(t, db, "create view v as select * from t")
	rows(t, db, "create trigger d instead of delete on v begin delete from t; end")
	for text, want := range map[string]string{
		"delete from v limit 1": "LIMIT on a view is not supported: v: SQLITE_ERROR",
		"delete from t limit 1": "LIMIT on a table whose columns take every name of the rowid: t: SQLITE_ERROR",
	} {
		if got := ask(t, db, text); got.Error != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	wantRows(t, db, "[[1]]", "select count(*) from t")
}

// A name that WITH gives away is the table's own in the statement.
func TestLimitBesideWith(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	rows(t, db, "create table t(a); insert into t values(1),(2),(3)")
	rows(t, db, "with t as (select 9 a) delete from t where a > 1 order by a desc limit 1")
	wantRows(t, db, "[[1] [2]]", "select a from t")
}

// The part that is written anew is no way around the policy.
func TestLimitKeepsPolicy(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	rows(t, db, "create table t(a); insert into t values(1)")
	for _, text := range []string{
		"delete from t where a in (select name from dbstat) limit 1",
		"delete from t where writefile('a','b') limit 1",
		"delete from t order by load_extension('x') limit 1",
	} {
		if got := ask(t, db, text); got.Success {
			t.Errorf("%s: %+v", text, got)
		}
	}
	wantRows(t, db, "[[1]]", "select a from t")
}

func TestLimitInMigrations(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	texts := map[string]string{
		"1.sql": "create table t(a);\ninsert into t values(1),(2),(3),(4);\ndelete from t order by a limit 1;\nupdate t set a = 0 limit 1; -- one\ninsert into t values(5);\n",
		"2.sql": "delete from t limit 1;\n\ndelete from t\n  limit nope;\n",
	}
	applied, err := migrate(t, db, texts, "1.sql", "2.sql")
	const want = "migration 2.sql of DB: line 3: no such column: nope at offset 22: SQLITE_ERROR: delete from t limit nope"
	if err == nil || !strings.Contains(err.Error(), want) || len(applied) != 1 {
		t.Errorf("applied %v, %v", applied, err)
	}
	wantRows(t, db, "[[0] [3] [4] [5]]", "select a from t")
}

// Whatever follows, a limit of one row takes no more than one.
func FuzzLimit(f *testing.F) {
	for _, tail := range []string{"", "order by a", "where a in (1,2) order by b desc", "as x where x.a", "where 'limit", "returning * order by a -- c", "returning ?", ")", "/*", "where a=1;", "indexed by i"} {
		f.Add(tail)
	}
	db, err := database.Kind{}.Open(f.Context(), bundle.Binding{Name: "DB", Kind: "database", Resource: "db"}, bindingtest.OpenVolumes(f, f.TempDir()))
	if err != nil {
		f.Fatal(err)
	}
	changed := true
	f.Fuzz(func(t *testing.T, tail string) {
		if changed { // most statements fail, and making the table is slow
			rows(t, db, "drop table if exists t; create table t(a, b); insert into t values(1,1),(2,2),(3,3)")
		}
		r := ask(t, db, "delete from t "+tail+" limit 1")
		changed = r.Success || strings.Contains(tail, ";")
		for _, hides := range []string{";", "--", "/*", "\x00"} { // the limit may not count
			if strings.Contains(tail, hides) {
				return
			}
		}
		if got := rows(t, db, "select count(*) >= 2 from t"); got != "[[1]]" {
			t.Errorf("%q: %+v", tail, r)
		}
	})
}

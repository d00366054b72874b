package database_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestAdminExport exports a database with every kind of value, imports the script into
// another one, and exports that: both scripts are equal.
func TestAdminExport(t *testing.T) {
	t.Parallel()
	c := newConsole(t, `create table "odd ""name" (id integer primary key autoincrement, "a b" text, c real, d blob, e generated always as (c * 2) stored);
		insert into "odd ""name" ("a b", c, d) values ('it''s', 0.1, x'00ff'), ('two
lines; -- no comment', 1e300, null), ('a' || char(0) || 'b', -0.0, 7), ('é', 1.0/3, 'text');
		create table child (p references "odd ""name"(id), k text primary key) without rowid;
		insert into child values (1, 'x');
		create index by_p on child (p);
		create view v as select * from child;
		create trigger tr after insert on child begin delete from child where k = 'never; end'; end;`, "A", "B")
	first := c.do(http.MethodGet, "/database/export?binding=A", "")
	if got := c.imports("?binding=B", first); got != `{"rows":6,"tables":2}` && !strings.Contains(got, `"tables":2`) {
		t.Fatalf("importing the export: %s\n%s", got, first)
	}
	if second := c.do(http.MethodGet, "/database/export?binding=B", ""); second != first {
		t.Errorf("the export of the import differs:\n%s\n%s", first, second)
	}
	const count = `select count(*) n, sum(typeof("a b") = 'text' and length(cast("a b" as blob))) bytes, sum(e > 0) e from "odd ""name"`
	a, b := c.results(map[string]any{"binding": "A", "sql": count}), c.results(map[string]any{"binding": "B", "sql": count})
	if len(a) != 1 || a[0] != b[0] {
		t.Errorf("%s, %s", a, b)
	}
	for query, want := range map[string]string{"": "binding_required", "?binding=C": "binding_not_found"} {
		if got := c.do(http.MethodGet, "/database/export"+query, ""); !strings.Contains(got, want) {
			t.Errorf("%s: %s", query, got)
		}
	}
	c.query(map[string]any{"binding": "A", "read_only": false, "sql": "create virtual table fts using fts5(x)"})
	if got := c.do(http.MethodGet, "/database/export?binding=A", ""); !strings.Contains(got, "virtual table fts") {
		t.Error(got)
	}
}

package rowsql_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/data/rowsql"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// TestAlter: added columns are found in the statement of a table, and nothing else is.
func TestAlter(t *testing.T) {
	t.Parallel()
	tables, err := rowsql.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	for _, test := range []struct{ was, change string }{
		{"CREATE TABLE t(a)", "ALTER TABLE t ADD COLUMN b"},
		{"CREATE TABLE t(a TEXT, PRIMARY KEY (a))", "ALTER TABLE t ADD COLUMN b TEXT DEFAULT 'x, )'; ALTER TABLE t ADD COLUMN c DECIMAL(10, 2)"},
		{"CREATE TABLE t(a TEXT, b TEXT)", "ALTER TABLE t ADD COLUMN c TEXT"},
		{"CREATE TABLE t(a, b)", `ALTER TABLE t ADD COLUMN "b,""b" INT NOT NULL DEFAULT 3 CHECK (1 IN (1, 2))`},
		{"CREATE TABLE t(a) STRICT", ""}, // not a table
	} {
		db := create(t, nil)
		if strings.HasSuffix(test.was, "STRICT") {
			if got := tables.Alter("t", test.was, "CREATE TABLE t(a, b) STRICT"); got != nil {
				t.Errorf("a table without types: %q", got)
			}
			continue
		}
		db.exec(test.was + ";" + test.change)
		var is string
		db.query("SELECT sql FROM sqlite_schema WHERE name = 't'", func(s *raw.Stmt) { is = s.Text(0) })
		got := tables.Alter("t", test.was, is)
		other := create(t, nil)
		other.exec(test.was + ";" + strings.Join(got, ";"))
		again := ""
		other.query("SELECT sql FROM sqlite_schema WHERE name = 't'", func(s *raw.Stmt) { again = s.Text(0) })
		if again != is {
			t.Errorf("%s: %q made %s, want %s", test.was, got, again, is)
		}
	}
	for was, is := range map[string]string{
		"CREATE TABLE t(a, b)":  "CREATE TABLE t(a)",
		"CREATE TABLE t(a)":     "CREATE TABLE t(a, PRIMARY KEY (a))",
		"CREATE TABLE t(a, c)":  "CREATE TABLE t(a, b, c)",
		"CREATE TABLE t(a INT)": "CREATE TABLE t(a TEXT)",
		"CREATE TABLE t(x)":     "CREATE TABLE t(x UNIQUE)",
	} {
		if got := tables.Alter("t", was, is); got != nil {
			t.Errorf("%s to %s: %q", was, is, got)
		}
	}
}

// TestStateDefaults: a row has the default of a column that was added after it was written, in the
// type of the column.
func TestStateDefaults(t *testing.T) {
	t.Parallel()
	tables, err := rowsql.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	const sql = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT DEFAULT 7, b REAL DEFAULT 2, c DEFAULT x'00ff', d INT, made AS (id), e DEFAULT (1+1), f DEFAULT CURRENT_TIMESTAMP)"
	s, err := tables.State(sql, rowdiff.Record{RowID: 4, Values: []rowdiff.Value{nil}})
	last := len(s.Values) - 1
	want := []rowsql.Column{{Name: "id", Value: int64(4)}, {Name: "a", Value: "7"}, {Name: "b", Value: 2.0}, {Name: "c", Value: []byte{0, 255}}, {Name: "d"}, {Name: "e", Value: int64(2)}}
	if d := cmp.Diff(want, s.Values[:last]); d != "" || err != nil || s.ID != `"id" IS 4` {
		t.Error(d, err, s.ID)
	}
}

// TestContent: values that differ in their types alone are different, though JSON has one text for them.
func TestContent(t *testing.T) {
	t.Parallel()
	seen := map[string]rowdiff.Value{}
	for _, v := range []rowdiff.Value{nil, int64(1), 1.0, "1", []byte("1"), "\xff", []byte("\xff"), "", []byte{}, "NULL"} {
		s := rowsql.State{Values: []rowsql.Column{{Name: "v", Value: v}}}
		if other, ok := seen[s.Content()]; ok {
			t.Errorf("%#v and %#v are %s", v, other, s.Content())
		}
		seen[s.Content()] = v
	}
}

// TestPlaced: rows of a table whose key is an index beside it may be at any place.
func TestPlaced(t *testing.T) {
	t.Parallel()
	tables, err := rowsql.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	var got []string
	for _, columns := range []string{"(a)", "(id INTEGER PRIMARY KEY)", "(a TEXT PRIMARY KEY)", "(a, b, PRIMARY KEY (b, a)) WITHOUT ROWID", "(id INTEGER PRIMARY KEY DESC)"} {
		place, err := tables.Placed("CREATE TABLE t" + columns)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, place)
	}
	if want := []string{"rowid", "alias id", "", "key b,a", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

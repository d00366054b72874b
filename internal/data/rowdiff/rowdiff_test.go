package rowdiff_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

const fill = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO %s SELECT i, hex(randomblob(20)) FROM n`

// TestChanges: changes of the schema and moves of pages count the rows that really differ.
func TestChanges(t *testing.T) {
	for _, test := range []struct {
		name, sql string
		want      map[string]string
	}{
		{"nothing", "", map[string]string{}},
		{"an index", "CREATE INDEX t_v ON t(v)", map[string]string{}},
		{"an index is dropped", "DROP INDEX u_v", map[string]string{}},
		{"a column", "ALTER TABLE t ADD COLUMN w DEFAULT 7", map[string]string{}},
		{"a new table", "CREATE TABLE n(a); INSERT INTO n VALUES (1), (2)", map[string]string{"n": "+2 ~0 -0"}},
		{"an empty table", "CREATE TABLE n(a)", map[string]string{}},
		{"a dropped table", "DROP TABLE t", map[string]string{"t": "+0 ~0 -500"}},
		{"a renamed table", "ALTER TABLE t RENAME TO s", map[string]string{"t": "+0 ~0 -500", "s": "+500 ~0 -0"}},
		{"another kind of table", "DROP TABLE t; CREATE TABLE t(id INT PRIMARY KEY) WITHOUT ROWID; INSERT INTO t VALUES (1)", map[string]string{"t": "+1 ~0 -500"}},
		{"all rows", "DELETE FROM u", map[string]string{"u": "+0 ~0 -300"}},
		{"vacuum", "DELETE FROM u WHERE id > 290; VACUUM", map[string]string{"u": "+0 ~0 -10"}},
		{"a text in place", "UPDATE long SET v = replace(v, 'END', 'end') WHERE id = 3", map[string]string{"long": "+0 ~1 -0"}},
		{"a moved row", "UPDATE t SET id = 1000 WHERE id = 1", map[string]string{"t": "+1 ~0 -1"}},
		{"a counter", "INSERT INTO auto(v) VALUES (1); DELETE FROM auto", map[string]string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := filled(t)
			base := db.image()
			db.exec(test.sql)
			now := db.image()
			if got := counts(t, base, now, nil); !maps.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			if len(test.want) > 0 {
				return
			}
			if got := counts(t, now, base, nil); len(got) > 0 {
				t.Errorf("reversed: got %v", got)
			}
		})
	}
}

// filled has two tables of rows, one whose rows have several pages, and one with a counter.
func filled(t *testing.T) *file {
	t.Helper()
	db := create(t, 1024)
	db.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, v); CREATE TABLE u(id INTEGER PRIMARY KEY, v); CREATE INDEX u_v ON u(v)")
	db.exec("CREATE TABLE long(id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE auto(id INTEGER PRIMARY KEY AUTOINCREMENT, v)")
	db.exec(fmt.Sprintf(fill, 500, "t") + ";" + fmt.Sprintf(fill, 300, "u"))
	for range 8 {
		db.exec("INSERT INTO long(v) VALUES (hex(zeroblob(4000)) || 'END')")
	}
	return db
}

// TestEmpty: a database that one image does not have.
func TestEmpty(t *testing.T) {
	none := &image{read: map[uint32]int{}}
	full := filled(t).image()
	if got, want := counts(t, none, full, nil), map[string]string{"t": "+500 ~0 -0", "u": "+300 ~0 -0", "long": "+8 ~0 -0"}; !maps.Equal(got, want) {
		t.Errorf("created: got %v, want %v", got, want)
	}
	if got, want := counts(t, full, none, nil), map[string]string{"t": "+0 ~0 -500", "u": "+0 ~0 -300", "long": "+0 ~0 -8"}; !maps.Equal(got, want) {
		t.Errorf("gone: got %v, want %v", got, want)
	}
}

// TestCost: the pages read grow with the change, not with the data.
func TestCost(t *testing.T) {
	db := create(t, 1024)
	db.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
	db.exec(fmt.Sprintf(fill, 20000, "t"))
	base := db.image()
	db.exec("UPDATE t SET v = 'x' WHERE id IN (10, 9000, 19999); INSERT INTO t VALUES (NULL, 'y')")
	now := db.image()
	r := compare(t, base, now, nil, rowdiff.Limits{Pages: 1 << 20})
	if got := texts(r)["t"]; got != "+1 ~3 -0" {
		t.Errorf("got %s", got)
	}
	// The schema, the root, the interior pages, and the changed leaves in each image.
	if int(now.Pages()) < 900 || r.Read > 24 {
		t.Errorf("read %d pages of %d", r.Read, now.Pages())
	}
	for pgno, n := range now.read {
		if n > 2 {
			t.Errorf("page %d was read %d times", pgno, n)
		}
	}
	if r := compare(t, now, now, nil, rowdiff.Limits{}); r.Read != 0 || r.AtLeast {
		t.Errorf("equal images: %+v", r)
	}
}

// TestOnly: tables that are not wanted cost nothing.
func TestOnly(t *testing.T) {
	db := filled(t)
	base := db.image()
	db.exec("UPDATE long SET v = 'x'; DELETE FROM t; DELETE FROM u WHERE id = 7")
	now := db.image()
	i := rowdiff.Images{Base: base, Now: now, Same: func(uint32) bool { return false }, Only: func(table string) bool { return table == "u" }}
	r, err := rowdiff.Compare(t.Context(), i, rowdiff.Limits{Pages: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := texts(r), map[string]string{"u": "+0 ~0 -1"}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestLimit: past a limit the counts are lower bounds.
func TestLimit(t *testing.T) {
	db := create(t, 1024)
	db.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
	base := db.image()
	db.exec(fmt.Sprintf(fill, 20000, "t"))
	now := db.image()
	last := int64(-1)
	for _, pages := range []int{0, 1, 10, 100, 300, 600, 900} {
		r := compare(t, base, now, nil, rowdiff.Limits{Pages: pages})
		var rows int64
		for _, table := range r.Tables {
			rows += table.Inserted
			if table.Updated+table.Deleted > 0 || table.Inserted > 20000 || !table.AtLeast {
				t.Errorf("%d pages: %+v", pages, table)
			}
		}
		if !r.AtLeast || r.Read > pages || rows < last {
			t.Errorf("%d pages: %+v after %d rows", pages, r, last)
		}
		last = rows
	}
	if last < 5000 {
		t.Errorf("only %d rows in 900 pages", last)
	}
}

// TestCorrupt: a damaged image is an error or another count, never a panic or a loop.
func TestCorrupt(t *testing.T) {
	db := filled(t)
	base := db.image()
	db.exec("UPDATE t SET v = 'x'; UPDATE long SET v = v || 'y'")
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		now := db.image()
		for range 1 + r.IntN(8) {
			now.data[100+r.IntN(len(now.data)-100)] = byte(r.IntN(256))
			now.data[int(r.Uint32N(now.Pages()))*now.size+r.IntN(16)] = byte(r.IntN(256))
		}
		_, err := rowdiff.Compare(t.Context(), rowdiff.Images{
			Base: base, Now: now,
			Same: func(pgno uint32) bool { return string(base.page(pgno)) == string(now.page(pgno)) },
			Row:  func(rowdiff.Row) error { return nil },
		}, rowdiff.Limits{Pages: 1000})
		if err != nil && !errors.Is(err, rowdiff.ErrCorrupt) {
			t.Fatal(err)
		}
	}
}

// TestEvery: equal rows on pages that are not the same are passed where they are wanted, and not counted.
func TestEvery(t *testing.T) {
	db := filled(t)
	base := db.image()
	db.exec("UPDATE t SET v = 'x' WHERE id = 250; UPDATE u SET v = 'x' WHERE id = 1")
	now := db.image()
	passed := map[string]int{}
	equal := 0
	_, err := rowdiff.Compare(t.Context(), rowdiff.Images{
		Base: base, Now: now, Same: func(pgno uint32) bool { return bytes.Equal(base.page(pgno), now.page(pgno)) }, Every: func(table string) bool { return table == "t" },
		Row: func(r rowdiff.Row) error {
			passed[r.Table]++
			if r.Base != nil && r.Now != nil && r.Base.Values[1] == r.Now.Values[1] {
				equal++
			}
			return nil
		},
	}, rowdiff.Limits{Pages: 1 << 20})
	if err != nil || passed["u"] != 1 || passed["t"] < 5 || passed["t"] > 100 || equal != passed["t"]-1 {
		t.Errorf("passed %v, %d equal: %v", passed, equal, err)
	}
}

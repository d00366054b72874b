package divergence_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

// forms are tables of all forms, with columns that the first version added later.
const forms = `database-shop: CREATE TABLE plain(id INTEGER PRIMARY KEY, a TEXT, b BLOB, r REAL);
	CREATE TABLE texts(a TEXT PRIMARY KEY, b BLOB, r REAL);
	CREATE TABLE none(a, b, r REAL);
	CREATE TABLE bare(n INT, a TEXT, b BLOB, r REAL, PRIMARY KEY (a, n)) WITHOUT ROWID;
	CREATE TABLE made(id INTEGER PRIMARY KEY, a TEXT, b BLOB, r REAL, twice AS (r * 2), kept REAL AS (r * 3) STORED);
	CREATE TABLE "odd ""t"(a TEXT COLLATE NOCASE PRIMARY KEY, b BLOB, r REAL);
	CREATE TABLE firm(a TEXT PRIMARY KEY, b ANY, r REAL, kept REAL AS (r * 2) STORED, made TEXT AS (a || 'x')) STRICT, WITHOUT ROWID;
	CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT, b BLOB, r REAL);
	INSERT INTO plain VALUES (1, 'old', NULL, 1); INSERT INTO texts VALUES ('old', NULL, 1); INSERT INTO none VALUES (1, 2, 3);
	INSERT INTO bare VALUES (1, 'old', NULL, 1); INSERT INTO made(id, a) VALUES (1, 'old');
	ALTER TABLE plain ADD COLUMN late TEXT DEFAULT 'd'; ALTER TABLE texts ADD COLUMN late INT; ALTER TABLE none ADD COLUMN late`

// randomly changes one table.
func randomly(r *rand.Rand) string {
	table := []string{"plain", "texts", "none", "bare", "made", `"odd ""t"`, "firm", "counted"}[r.IntN(8)]
	a := fmt.Sprintf("'%c%d'", "kK"[r.IntN(2)], r.IntN(12))
	if table == "texts" && r.IntN(4) == 0 || table == "none" && r.IntN(3) == 0 {
		a = "NULL"
	}
	b := []string{"NULL", "CAST(x'fe6100' AS TEXT)", fmt.Sprintf("x'%02x'", r.IntN(256)), fmt.Sprintf("CAST('%s' AS BLOB)", strings.Repeat(fmt.Sprint(r.IntN(10)), 5000+r.IntN(9000)))}[r.IntN(4)]
	number := []string{"NULL", "2.0", "0.5", "-0.0", "1e300", "9007199254740993"}[r.IntN(6)]
	extra, value := "", ""
	if table == "bare" {
		extra, value = ", n", fmt.Sprint(", ", r.IntN(2))
	}
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf("DELETE FROM %s WHERE a = %s", table, a)
	case 1:
		return fmt.Sprintf("UPDATE %s SET b = %s, r = %s WHERE a IS %s", table, b, number, a)
	}
	return fmt.Sprintf("INSERT OR REPLACE INTO %s(a, b, r%s) VALUES (%s, %s, %s%s)", table, extra, a, b, number, value)
}

// TestDiffApplied: the statements of a diff, in the first version, make its rows those of the second.
func TestDiffApplied(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 38))
		w := newWorld(t)
		w.version("v1", "")
		w.exec("v1", forms)
		w.version("v2", "v1")
		for _, v := range []string{"v1", "v2"} {
			script := make([]string, 60)
			for i := range script {
				script[i] = randomly(r)
			}
			w.exec(v, "database-shop: "+strings.Join(script, ";\n"))
		}
		w.exec("v2", "database-shop: CREATE TABLE new(id TEXT PRIMARY KEY, v); INSERT INTO new VALUES ('a', 1)")
		records, _, err := w.diff(svc.DataDiff{Ref: ref("v1"), With: "v2", Rows: true})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, one := range records {
			if one.SQL != "" {
				w.exec("v1", "database-shop: "+one.SQL)
			}
		}
		if d := cmp.Diff(w.dump("v2"), w.dump("v1")); d != "" {
			t.Errorf("seed %d: %s", seed, d)
		}
		if again, _, err := w.diff(svc.DataDiff{Ref: ref("v2"), With: "v1", Table: "plain"}); err != nil || len(again) > 0 {
			t.Errorf("seed %d: %v, %v", seed, summary(again), err)
		}
	}
}

// dump returns the rows of the tables of the shop, with the types of their values.
func (w *world) dump(version string) (lines []string) {
	w.t.Helper()
	db, err := w.open[version].Database(w.t.Context(), "database-shop")
	if err != nil {
		w.t.Fatal(err)
	}
	err = db.Write(w.t.Context(), func(c *raw.Conn) error {
		for _, table := range []string{"plain", "texts", "none", "bare", "made", `"odd ""t"`, "firm", "counted", "new"} {
			columns := "*"
			if table == "plain" || table == "made" || table == "counted" {
				columns = "a, b, r" // both versions give the next id to their rows
			}
			if err := c.Query("SELECT "+columns+" FROM "+table, nil, func(s *raw.Stmt) error {
				line := table
				for i := range s.Columns() {
					line += fmt.Sprintf(" %v %.20q %d", s.ColumnType(i), s.Text(i), len(s.Text(i)))
				}
				lines = append(lines, line)
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

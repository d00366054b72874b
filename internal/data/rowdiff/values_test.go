package rowdiff_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// TestValues: each kind of value, in rows that fit a page and in rows that do not.
func TestValues(t *testing.T) {
	db := create(t, 1024)
	db.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, v, r REAL)")
	base := db.image()
	long := strings.Repeat("long ", 3000)
	db.exec(`INSERT INTO t VALUES (-5, NULL, 1.5), (1, 0, 2), (2, 1, NULL), (3, -129, 0), (4, 9223372036854775807, 0), (5, -9223372036854775808, 0),
		(6, 0.1, 9e999), (7, 'a''b', -9e999), (8, x'00ff', 0), (9, '', 0), (10, x'', 0), (11, '` + long + `', 0)`)
	want := map[int64][]rowdiff.Value{
		-5: {nil, nil, 1.5}, 1: {nil, int64(0), int64(2)}, 2: {nil, int64(1), nil}, 3: {nil, int64(-129), int64(0)},
		4: {nil, int64(math.MaxInt64), int64(0)}, 5: {nil, int64(math.MinInt64), int64(0)}, 6: {nil, 0.1, math.Inf(1)}, 7: {nil, "a'b", math.Inf(-1)},
		8: {nil, []byte{0, 255}, int64(0)}, 9: {nil, "", int64(0)}, 10: {nil, []byte{}, int64(0)}, 11: {nil, long, int64(0)},
	}
	got := map[int64][]rowdiff.Value{}
	for _, r := range rowsOf(t, base, db.image(), nil) {
		if r.Table != "t" || r.Base != nil || r.BaseSQL != r.NowSQL || r.NowSQL != "CREATE TABLE t(id INTEGER PRIMARY KEY, v, r REAL)" {
			t.Errorf("got %+v", r)
		}
		got[r.Now.RowID] = r.Now.Values
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestValuesOfChanges: both states of a changed row, also when its leaf page did not change,
// and the statement of the table in each.
func TestValuesOfChanges(t *testing.T) {
	db := filled(t)
	base := db.image()
	db.exec("UPDATE long SET v = replace(v, 'END', 'end') WHERE id = 3; ALTER TABLE u ADD COLUMN w DEFAULT 7; UPDATE u SET v = 'x' WHERE id = 2; DELETE FROM t WHERE id = 9")
	var got []string
	for _, r := range rowsOf(t, base, db.image(), nil) {
		line := r.Table
		for i, state := range []*rowdiff.Record{r.Base, r.Now} {
			if state == nil {
				line += " none"
				continue
			}
			text := state.Values[1].(string) //nolint:forcetypeassert // a text
			line += fmt.Sprintf(" %d:%s:%d:%t", state.RowID, text[max(0, len(text)-3):], len(state.Values), strings.Contains([]string{r.BaseSQL, r.NowSQL}[i], "DEFAULT 7"))
		}
		got = append(got, line)
	}
	slices.Sort(got)
	// The text of the deleted row and the old text of u are random.
	want := []string{"long 3:END:2:false 3:end:2:false", "t 9:***:2:false none", "u 2:***:2:false 2:x:3:true"}
	for i := range got {
		if fields := strings.Split(got[i], ":"); i > 0 && len(fields) > 1 {
			fields[1] = "***"
			got[i] = strings.Join(fields, ":")
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestRowError: the error of the caller ends the comparison.
func TestRowError(t *testing.T) {
	db := filled(t)
	base := db.image()
	db.exec("DELETE FROM t")
	enough, calls := errors.New("enough"), 0
	_, err := rowdiff.Compare(t.Context(), rowdiff.Images{
		Base: base, Now: db.image(), Same: func(uint32) bool { return false },
		Row: func(rowdiff.Row) error { calls++; return enough },
	}, rowdiff.Limits{Pages: 1 << 20})
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// TestKeyedLimit: a table WITHOUT ROWID whose pages exceed the limit is a lower bound.
func TestKeyedLimit(t *testing.T) {
	db := create(t, 1024)
	db.exec("CREATE TABLE t(k PRIMARY KEY, v) WITHOUT ROWID")
	base := db.image()
	db.exec(fmt.Sprintf(fill, 2000, "t"))
	for keyed, exact := range map[int]bool{0: true, 10: false, 1000: true} {
		r := compare(t, base, db.image(), nil, rowdiff.Limits{Pages: 1 << 20, Keyed: keyed})
		if r.AtLeast == exact {
			t.Errorf("limit %d: %+v", keyed, r)
		}
	}
}

// rowsOf returns the rows that differ; same nil compares pages.
func rowsOf(t *testing.T, base, now *image, same func(uint32) bool) (rows []rowdiff.Row) {
	t.Helper()
	if same == nil {
		same = func(pgno uint32) bool { return string(base.page(pgno)) == string(now.page(pgno)) }
	}
	images := rowdiff.Images{Base: base, Now: now, Same: same, Row: func(r rowdiff.Row) error { rows = append(rows, r); return nil }}
	if _, err := rowdiff.Compare(t.Context(), images, rowdiff.Limits{Pages: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	return rows
}

// checkRows compares the rows that differ with those that SQL reads.
func checkRows(t *testing.T, base, now *image, same func(uint32) bool, was, is map[string]map[string]string) {
	t.Helper()
	got := []map[string]string{{}, {}}
	for _, r := range rowsOf(t, base, now, same) {
		for i, state := range []*rowdiff.Record{r.Base, r.Now} {
			if state != nil {
				key, row := rendered(r.Table, *state)
				got[i][r.Table+" "+key] = row
			}
		}
	}
	want := []map[string]string{{}, {}}
	for table := range maps.Keys(is) {
		add := func(to map[string]string, from, other map[string]string) {
			for key, row := range from {
				if other[key] != row {
					to[table+" "+key] = row
				}
			}
		}
		add(want[0], was[table], is[table])
		add(want[1], is[table], was[table])
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rows: %s", d)
	}
}

// rendered returns key and text of a row of the model, as rows does.
func rendered(table string, r rowdiff.Record) (key, row string) {
	values := slices.Clone(r.Values)
	key = fmt.Sprint(r.RowID)
	switch table {
	case "plain":
		values[0] = r.RowID
	case "bare": // its primary key comes first
		key = fmt.Sprintf("%v,%v", values[0], values[1])
		values[0], values[1] = values[1], values[0]
	}
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintf(&b, "%v %q,", typeOf(v), text(v))
	}
	return key, b.String()
}

func typeOf(v rowdiff.Value) raw.Type {
	switch v.(type) {
	case nil:
		return raw.Null
	case int64:
		return raw.Integer
	case float64:
		return raw.Float
	case string:
		return raw.Text
	}
	return raw.Blob
}

func text(v rowdiff.Value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

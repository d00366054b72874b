package rowdiff_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
)

// TestModel: after random changes the counts and the rows are those of a comparison of all
// rows by SQL, also when every page counts as changed.
func TestModel(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 13))
			db := create(t, []int{512, 1024, 4096}[seed%3])
			db.exec(modelSchema)
			for range 250 {
				db.exec(insertion(r))
			}
			base, was := db.image(), db.rows()
			for range []int{1, 5, 60, 300}[r.IntN(4)] {
				db.exec(change(r))
			}
			now, is := db.image(), db.rows()
			want := compared(was, is)
			if got := counts(t, base, now, nil); !maps.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			if got := counts(t, base, now, func(uint32) bool { return false }); !maps.Equal(got, want) {
				t.Errorf("without knowledge of equal pages: got %v, want %v", got, want)
			}
			checkRows(t, base, now, nil, was, is)
			checkRows(t, base, now, func(uint32) bool { return false }, was, is)
		})
	}
}

const modelSchema = `
CREATE TABLE plain(id INTEGER PRIMARY KEY, a TEXT, b BLOB);
CREATE INDEX plain_a ON plain(a);
CREATE TABLE bare(n INT, k TEXT, v, /* PRIMARY KEY(x) */ PRIMARY KEY ("k", n)) WITHOUT ROWID;
CREATE INDEX bare_v ON bare(v);
CREATE TABLE [odd ' "name](a TEXT DEFAULT 'PRIMARY KEY', b);`

func insertion(r *rand.Rand) string {
	switch r.IntN(3) {
	case 0:
		return fmt.Sprintf("INSERT INTO plain(a, b) VALUES (hex(randomblob(%d)), zeroblob(%d))", r.IntN(30), size(r))
	case 1:
		return fmt.Sprintf("INSERT OR IGNORE INTO bare VALUES (%d, '%s', zeroblob(%d))", r.IntN(50), strings.Repeat("k", r.IntN(700)), size(r))
	}
	return fmt.Sprintf("INSERT INTO [odd ' \"name] VALUES (%d, zeroblob(%d))", r.IntN(1000), size(r))
}

func change(r *rand.Rand) string {
	id := r.IntN(200)
	switch r.IntN(12) {
	case 0, 1, 2:
		return insertion(r)
	case 3:
		return fmt.Sprintf("DELETE FROM plain WHERE id = %d", id)
	case 4:
		return fmt.Sprintf("DELETE FROM bare WHERE n = %d AND length(k) %% 7 = %d", r.IntN(50), r.IntN(7))
	case 5:
		return fmt.Sprintf("DELETE FROM [odd ' \"name] WHERE rowid BETWEEN %d AND %d", id, id+r.IntN(20))
	case 6:
		return fmt.Sprintf("UPDATE plain SET a = 'x%d' WHERE id = %d", r.IntN(3), id)
	case 7: // the end of a row, in place
		return fmt.Sprintf("UPDATE plain SET b = CAST(substr(b, 1, length(b) - 1) || x'%02x' AS BLOB) WHERE id = %d AND length(b) > 0", r.IntN(3), id)
	case 8:
		return fmt.Sprintf("UPDATE bare SET v = %d WHERE n = %d", r.IntN(3), r.IntN(50))
	case 9:
		return fmt.Sprintf("UPDATE [odd ' \"name] SET b = randomblob(%d) WHERE rowid = %d", size(r), id)
	case 10: // the page is written, the row is as it was
		return fmt.Sprintf("UPDATE plain SET a = a WHERE id = %d", id)
	}
	return fmt.Sprintf("UPDATE plain SET b = zeroblob(%d) WHERE id = %d", size(r), id)
}

// size is often small, and sometimes several pages.
func size(r *rand.Rand) int {
	if r.IntN(8) == 0 {
		return 3000 + r.IntN(20000)
	}
	return r.IntN(120)
}

// compared compares all rows.
func compared(was, is map[string]map[string]string) map[string]string {
	out := map[string]string{}
	names := maps.Clone(was)
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		var inserted, updated, deleted int
		for key, row := range is[name] {
			if old, ok := was[name][key]; !ok {
				inserted++
			} else if old != row {
				updated++
			}
		}
		for key := range was[name] {
			if _, ok := is[name][key]; !ok {
				deleted++
			}
		}
		if inserted+updated+deleted > 0 {
			out[name] = fmt.Sprintf("+%d ~%d -%d", inserted, updated, deleted)
		}
	}
	return out
}

// counts compares images; same nil compares pages.
func counts(t *testing.T, base, now *image, same func(uint32) bool) map[string]string {
	t.Helper()
	return texts(compare(t, base, now, same, rowdiff.Limits{Pages: 1 << 20}))
}

func texts(r rowdiff.Result) map[string]string {
	out := map[string]string{}
	for _, table := range r.Tables {
		out[table.Name] = fmt.Sprintf("+%d ~%d -%d", table.Inserted, table.Updated, table.Deleted)
		if table.AtLeast {
			out[table.Name] += " at least"
		}
	}
	return out
}

func compare(t *testing.T, base, now *image, same func(uint32) bool, l rowdiff.Limits) rowdiff.Result {
	t.Helper()
	if same == nil {
		same = func(pgno uint32) bool { return string(base.page(pgno)) == string(now.page(pgno)) }
	}
	r, err := rowdiff.Compare(t.Context(), rowdiff.Images{Base: base, Now: now, Same: same}, l)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

package dataplane_test

import (
	"errors"
	"testing"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// TestMark: the mark of a database changes with each write, also with one that fails after a commit,
// and it is absent while a write runs and after the end.
func TestMark(t *testing.T) {
	t.Parallel()
	v := openOn(t, new(memstore.Bucket), t.TempDir())
	db := database(t, v, "a")
	seen := map[uint64]bool{}
	expectNew := func(when string) {
		t.Helper()
		mark, ok := db.Mark(t.Context())
		if again, still := db.Mark(t.Context()); !ok || !still || again != mark || seen[mark] {
			t.Errorf("%s: the mark is %d, %v, then %d, %v; known: %v", when, mark, ok, again, still, seen)
		}
		seen[mark] = true
	}
	expectNew("at first")
	exec(t, db, "CREATE TABLE t(x)")
	expectNew("after a write")
	failure := errors.New("after the commit")
	err := db.Write(t.Context(), func(c *raw.Conn) error {
		if _, ok := db.Mark(t.Context()); ok {
			t.Error("there is a mark while a write runs")
		}
		return errors.Join(c.Exec("INSERT INTO t VALUES (1)"), failure)
	})
	if !errors.Is(err, failure) {
		t.Error(err)
	}
	expectNew("after a write that failed")
	if n := number(t, db, "SELECT count(*) FROM t"); n != 1 {
		t.Errorf("%d rows", n)
	}
	if mark, ok := db.Mark(t.Context()); !ok || !seen[mark] {
		t.Errorf("a read changed the mark to %d, %v", mark, ok)
	}
	closed(t, v)
	if _, ok := db.Mark(t.Context()); ok {
		t.Error("there is a mark after the end")
	}
}

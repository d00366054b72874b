package dataplane_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/svc"
)

// cutOf returns a cut of the data.
func cutOf(t *testing.T, v *dataplane.Volumes) map[string]branch.Cut {
	t.Helper()
	cut, _, err := v.Cut(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return cut
}

// askCut queries the database restored from a cut, from the bucket alone.
func askCut(t *testing.T, bucket objstore.Bucket, c branch.Cut, text string) int64 {
	t.Helper()
	plan, err := branch.Plan(c.Files, c.TXID)
	if err != nil {
		t.Fatal(err)
	}
	src, err := replica.NewSource(t.Context(), bucket, plan)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.sqlite")
	if err := src.Restore(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	return ask(t, path, text)
}

// TestCutIsOnePosition: a cut is one position of all databases, including databases opened meanwhile.
// Each writer counts up in one database and then in the next, so a database is always at most one
// ahead of the next one, and never behind.
func TestCutIsOnePosition(t *testing.T) {
	t.Parallel()
	bucket := new(memstore.Bucket)
	v := openOn(t, bucket, t.TempDir())
	const writers, stores, late = 3, 3, "s2" // late is opened under load
	name := func(i int) string { return fmt.Sprint("s", i) }
	for i := range stores {
		if name(i) != late {
			exec(t, database(t, v, name(i)), counters)
		}
	}
	var all sync.WaitGroup
	var stop atomic.Bool
	var opening sync.Once
	for w := range writers {
		all.Go(func() {
			for n := 1; !stop.Load(); n++ {
				for i := range stores {
					if name(i) == late {
						opening.Do(func() { exec(t, database(t, v, late), counters) })
					}
					exec(t, database(t, v, name(i)), fmt.Sprintf("INSERT OR REPLACE INTO t VALUES (%d, %d)", w, n))
				}
			}
		})
	}
	for range 12 {
		cut := cutOf(t, v)
		for w := range writers {
			var at [stores]int64
			for i := range stores {
				if c, ok := cut[name(i)]; ok && c.TXID > 0 {
					at[i] = askCut(t, bucket, c, fmt.Sprintf("SELECT coalesce(max(n), 0) FROM t WHERE w = %d", w))
				}
			}
			if at[0] < at[1] || at[1] < at[2] || at[0] > at[2]+1 {
				t.Errorf("writer %d is at %v in one cut", w, at)
			}
		}
	}
	stop.Store(true)
	all.Wait()
}

const counters = "CREATE TABLE t(w INTEGER PRIMARY KEY, n)"

// TestCutStays: the files of a cut stay valid while the log grows and is compacted, and an unopened
// database is in the cut as it was inherited.
func TestCutStays(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, dir := new(memstore.Bucket), t.TempDir()
		v := openOn(t, bucket, dir)
		db := database(t, v, "a")
		exec(t, db, "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
		exec(t, database(t, v, "d1-b"), "CREATE TABLE t(x); INSERT INTO t VALUES (7)")
		cut := cutOf(t, v)
		if cut["a"].Kind != "a" || cut["d1-b"].Kind != "d1" {
			t.Errorf("kinds: %q and %q", cut["a"].Kind, cut["d1-b"].Kind)
		}
		child := svc.Ref{Project: "p", Version: "child"}
		c := config(t, bucket, t.TempDir())
		if _, err := c.Branches.Fork(t.Context(), branch.Fork{Parent: c.Ref, Child: child, ID: "f", Cuts: cut}); err != nil {
			t.Fatal(err)
		}
		for range 70 {
			exec(t, db, "INSERT INTO t VALUES (1)")
			pass(time.Second)
		}
		if n := askCut(t, bucket, cut["a"], "SELECT sum(x) FROM t"); n != 1 {
			t.Errorf("the cut has the sum %d", n)
		}
		c.Ref, c.Parent = child, "v1"
		w, err := dataplane.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		exec(t, database(t, w, "a"), "INSERT INTO t VALUES (10)")
		of := cutOf(t, w)
		if a, b := askCut(t, bucket, of["a"], "SELECT sum(x) FROM t"), askCut(t, bucket, of["d1-b"], "SELECT x FROM t"); a != 11 || b != 7 {
			t.Errorf("a cut of the child has %d and %d", a, b)
		}
		closed(t, w)
	})
}

// TestCompaction: a log is merged in the background after 64 transactions, and superseded files are
// marked for deletion.
func TestCompaction(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := &gatedBucket{Bucket: new(memstore.Bucket)}, t.TempDir()
		v := openWith(t, way, dir, inSync)
		db := database(t, v, "a")
		exec(t, db, "CREATE TABLE t(x)")
		for i := range 63 {
			if merged, dead := superseded(t, way); merged+dead > 0 {
				t.Fatalf("%d merged files, %d dead lists after %d writes", merged, dead, i)
			}
			exec(t, db, "INSERT INTO t VALUES (1)")
			pass(time.Second)
		}
		if merged, dead := superseded(t, way); merged == 0 || dead == 0 {
			t.Errorf("%d merged files, %d dead lists", merged, dead)
		}
		if plan, err := logOf(t, way, "a").Plan(64); err != nil || len(plan) > 34 {
			t.Errorf("a plan of %d files, %v", len(plan), err)
		}
		closed(t, v)
		if n := restored(t, way, "a", "SELECT count(*) FROM t"); n != 63 {
			t.Errorf("the log has %d rows", n)
		}
	})
}

// superseded counts merged files and dead lists.
func superseded(t *testing.T, bucket objstore.Bucket) (merged, dead int) {
	t.Helper()
	infos, err := objstore.ListAll(t.Context(), bucket, "p/v1/")
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		if f, ok := branch.ParseKey(info.Key); ok && f.Level > 0 {
			merged++
		}
		if ok, _ := filepath.Match("p/v1/gc/dead/*", info.Key); ok {
			dead++
		}
	}
	return merged, dead
}

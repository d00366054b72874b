//go:build torture

package dataplane_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// pastWorld is a version that writes one row of each table at each simulated step.
type pastWorld struct {
	bucket *memstore.Bucket
	c      dataplane.Config
	v      *dataplane.Volumes
	set    func(int)
	now    atomic.Int64 // milliseconds
	points []dataplane.Point
}

// newPastWorld begins ago before now, and merges small numbers of files.
func newPastWorld(t *testing.T, ago time.Duration) *pastWorld {
	t.Helper()
	w := &pastWorld{bucket: new(memstore.Bucket)}
	w.now.Store(time.Now().Add(-ago).UnixMilli())
	w.v, w.c = withHistory(t, w.bucket, func(c *dataplane.Config) {
		c.CompactAfter, c.CompactFiles = 4, 2
		c.Now = func() time.Time { return time.UnixMilli(w.now.Load()) }
		c.Branches = must(branch.New(branch.Config{Data: w.bucket, Grace: time.Millisecond, LeaseTTL: time.Microsecond, Logger: c.Logger}))
	})
	w.set = twoTables(t, w.v)
	return w
}

// step writes and makes a point, after a simulated time.
func (w *pastWorld) step(t *testing.T, after time.Duration) {
	t.Helper()
	w.now.Add(after.Milliseconds())
	w.set(len(w.points))
	c := w.c
	c.Now = nil
	w.points = append(w.points, pointOf(t, w.v, c, len(w.points)))
}

// archive ends the version, which packs and merges everything.
func (w *pastWorld) archive(t *testing.T) {
	t.Helper()
	if err := w.v.Archive(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// sweep collects until nothing more is deleted.
func (w *pastWorld) sweep(t *testing.T, keep branch.History) (deleted int) {
	t.Helper()
	for {
		r := must(w.c.Branches.Sweep(t.Context(), "p", branch.SweepOptions{History: keep}))
		for ref, err := range r.Broken {
			t.Errorf("%s is broken: %v", ref, err)
		}
		if deleted += len(r.Gone); len(r.Gone)+len(r.Waiting) == 0 {
			return deleted
		}
	}
}

// past reads the history that is offered now.
func (w *pastWorld) past(t *testing.T, keep branch.History) *dataplane.Past {
	t.Helper()
	c := w.c
	c.Now = nil
	return must(dataplane.OpenPast(t.Context(), c, keep))
}

// check restores every offered point, and returns how many.
func (w *pastWorld) check(t *testing.T, keep branch.History) int {
	t.Helper()
	past := w.past(t, keep)
	for _, p := range past.Points() {
		i := slices.Index(w.points, p)
		if a, b := rowsAt(t, past, w.bucket, p.Time()); a != b && i >= 0 || i >= 0 && a != int64(i) {
			t.Errorf("point %d of %v has %d and %d", i, p.Time(), a, b)
		}
	}
	return len(past.Points())
}

// TestHistoryStays: sweeps delete what compaction superseded, and every point stays exact, while the version
// lives, after its archive, and in the history of a child before it was forked.
func TestHistoryStays(t *testing.T) {
	t.Parallel()
	w := newPastWorld(t, time.Hour)
	deleted := 0
	for range 30 {
		w.step(t, 5*time.Second)
		deleted += w.sweep(t, keepAll)
	}
	if n := w.check(t, keepAll); n < 30 {
		t.Errorf("%d points are left of 30", n)
	}
	w.archive(t)
	deleted += w.sweep(t, keepAll)
	if n := w.check(t, keepAll); n < 30 || deleted == 0 {
		t.Errorf("%d points are left of 30 after the archive, and %d objects were deleted", n, deleted)
	}
	tiers := map[string]int{}
	for _, h := range histOf(t, w.bucket) {
		tiers[h.Tier]++
	}
	if tiers[branch.TierSeconds] == 0 || tiers[branch.TierMinutes] == 0 || tiers[branch.TierHours] == 0 {
		t.Errorf("the tiers have %v objects", tiers)
	}
	c := w.c
	c.Now, c.Ref.Version, c.Parent = nil, "v2", "v1"
	cut := must(w.past(t, keepAll).Cut(t.Context(), w.points[20].Time(), keepAll))
	must(w.c.Branches.Fork(t.Context(), branch.Fork{Parent: w.c.Ref, Child: c.Ref, ID: "f", At: time.Now(), Cuts: cut.Databases}))
	child := must(dataplane.OpenPast(t.Context(), c, keepAll))
	before := must(child.Cut(t.Context(), w.points[11].Time(), keepAll))
	if n := numberAt(t, w.bucket, before.Databases, "sys", newest); n != 11 || before.Of != w.c.Ref {
		t.Errorf("the past of the child has %d, of %s", n, before.Of)
	}
}

// TestHistoryTiers: the seconds go first, then the minutes, and the points that are left are exact. With
// nothing kept, no history object is left, and the version is intact.
func TestHistoryTiers(t *testing.T) {
	t.Parallel()
	w := newPastWorld(t, 10*time.Hour)
	for range 48 {
		w.step(t, 10*time.Minute/4)
	}
	w.archive(t)
	hours := branch.History{Hours: 24 * time.Hour}
	minutes := branch.History{Minutes: 24 * time.Hour, Hours: 24 * time.Hour}
	last := 49
	for _, k := range []struct {
		name string
		keep branch.History
		most int
	}{{"all", keepAll, 48 * 3}, {"minutes", minutes, 48 * 3}, {"hours", hours, 47}} {
		w.sweep(t, k.keep)
		n := w.check(t, k.keep)
		if n == 0 || n > k.most {
			t.Errorf("%s: %d points", k.name, n)
		}
		last = min(last, n)
	}
	w.sweep(t, branch.History{})
	if left := histOf(t, w.bucket); len(left) != 0 {
		t.Errorf("without history %d objects are left", len(left))
	}
	if n := w.check(t, branch.History{}); n != 0 {
		t.Errorf("without history %d points are offered", n)
	}
	if n := numberAt(t, w.bucket, must(dataplane.CutStored(t.Context(), w.c)), "sys", newest); n != 47 {
		t.Errorf("the version has %d", n)
	}
}

// TestHistorySize: over the size the oldest points of the densest tier go.
func TestHistorySize(t *testing.T) {
	t.Parallel()
	w := newPastWorld(t, time.Hour)
	for range 40 {
		w.step(t, 2*time.Second)
	}
	w.archive(t)
	var dense, all int64
	for _, h := range histOf(t, w.bucket) {
		size := must(w.bucket.Stat(t.Context(), h.Key())).Size
		if all += size; h.Tier == branch.TierSeconds {
			dense += size
		}
	}
	keep := keepAll
	keep.MaxSize = all - dense/2
	before := w.check(t, keepAll)
	offered := w.check(t, keep)
	w.sweep(t, keep)
	n := w.check(t, keep)
	if n >= before || n == 0 || n != offered {
		t.Errorf("%d points of %d are left, and %d were offered", n, before, offered)
	}
	if newestPoint := w.past(t, keep).Points()[n-1]; newestPoint.Time().Before(w.points[len(w.points)-1].Time()) {
		t.Error("the newest point is gone")
	}
}

// TestHistoryPinned: what a child of the past has inherited stays when the history goes, and goes with the child.
func TestHistoryPinned(t *testing.T) {
	t.Parallel()
	w := newPastWorld(t, time.Hour)
	for range 20 {
		w.step(t, time.Second)
	}
	w.archive(t)
	w.sweep(t, keepAll)
	cut := must(w.past(t, keepAll).Cut(t.Context(), w.points[9].Time(), keepAll))
	child := svc.Ref{Project: "p", Version: "v2"}
	must(w.c.Branches.Fork(t.Context(), branch.Fork{Parent: w.c.Ref, Child: child, ID: "f", At: time.Now(), Cuts: cut.Databases}))
	w.sweep(t, branch.History{})
	if left := histOf(t, w.bucket); len(left) == 0 {
		t.Fatal("the child names no history object")
	}
	c := config(t, w.bucket, t.TempDir())
	c.Ref, c.Parent = child, w.c.Ref.Version
	v := must(dataplane.Open(t.Context(), c))
	for _, name := range []string{"database-main", "sys"} {
		db := database(t, v, name)
		if n := number(t, db, newest); n != 9 {
			t.Errorf("%s of the child has %d", name, n)
		}
		exec(t, db, "INSERT INTO t VALUES (100)")
	}
	if err := v.Archive(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.sweep(t, branch.History{})
	if n := numberAt(t, w.bucket, must(dataplane.CutStored(t.Context(), c)), "sys", newest); n != 100 {
		t.Errorf("the child has %d", n)
	}
	if err := w.c.Branches.Destroy(t.Context(), child); err != nil {
		t.Fatal(err)
	}
	w.sweep(t, branch.History{})
	if left := histOf(t, w.bucket); len(left) != 0 {
		t.Errorf("%d history objects are left without the child", len(left))
	}
	if err := w.c.Branches.Destroy(t.Context(), w.c.Ref); err != nil {
		t.Fatal(err)
	}
	w.sweep(t, keepAll)
	if left := must(objstore.ListAll(t.Context(), w.bucket, "p/")); len(left) != 0 {
		t.Errorf("objects are left of destroyed versions: %s", fmt.Sprint(left))
	}
}

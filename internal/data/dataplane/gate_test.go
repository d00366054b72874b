package dataplane_test

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
)

// ledger is what clients know: the highest count of each writer that was acknowledged, or seen by a
// reader.
type ledger struct {
	mu    sync.Mutex
	known map[int]int64
}

func (l *ledger) note(writer int, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known[writer] = max(l.known[writer], n)
}

func (l *ledger) now() map[int]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.known)
}

// TestOutputGate: in sync mode the machine may be lost at any time, with an object store that fails in
// every way: the bucket has every write that a client knew of by then, by a write or by a read.
func TestOutputGate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		faults := objstoretest.Faults{Before: .1, After: .1, Conflict: .1, Torn: .1, Hang: .004, Stale: .5}
		honest := new(memstore.Bucket)
		bucket := objstoretest.NewFaulty(honest, faults, 1)
		bucket.Latency = 10 * time.Millisecond
		db := database(t, openWith(t, bucket, t.TempDir(), inSync), "a")
		exec(t, db, counters)
		known := &ledger{known: map[int]int64{}}
		var all sync.WaitGroup
		var stop atomic.Bool
		for w := range 4 {
			all.Go(func() { countUp(t, db, known, w, &stop) })
			all.Go(func() { lookAt(t, db, known, w, &stop) })
		}
		const losses = 15
		for range losses {
			time.Sleep(300 * time.Millisecond)
			want := known.now()
			left := contents(t, honest)
			for w, n := range want {
				if got := restored(t, left, "a", fmt.Sprintf("SELECT coalesce(max(n), 0) FROM t WHERE w = %d", w)); got < n {
					t.Errorf("of writer %d clients know of %d, the bucket has %d", w, n, got)
				}
			}
		}
		stop.Store(true)
		all.Wait()
		var sum int64
		for _, n := range known.now() {
			sum += n
		}
		if sum < losses || bucket.Injected.Load() < losses {
			t.Errorf("%d writes and %d faults prove little", sum, bucket.Injected.Load())
		}
		t.Logf("%d writes, %d faults", sum, bucket.Injected.Load())
	})
}

func countUp(t *testing.T, db volume.Database, known *ledger, w int, stop *atomic.Bool) {
	for n := int64(1); !stop.Load(); n++ {
		err := db.Write(t.Context(), func(c *raw.Conn) error { return c.Exec("INSERT OR REPLACE INTO t VALUES (?, ?)", w, n) })
		if err != nil {
			t.Errorf("writing: %v", err)
			return
		}
		known.note(w, n)
		time.Sleep(time.Millisecond) // the clock advances only while all goroutines wait
	}
}

// lookAt reads while transactions are in progress.
func lookAt(t *testing.T, db volume.Database, known *ledger, w int, stop *atomic.Bool) {
	for !stop.Load() {
		known.note(w, number(t, db, fmt.Sprintf("SELECT coalesce(max(n), 0) FROM t WHERE w = %d", w)))
		time.Sleep(5 * time.Millisecond)
	}
}

// contents copies the current content of a bucket.
func contents(t *testing.T, from objstore.Bucket) *memstore.Bucket {
	t.Helper()
	infos, err := objstore.ListAll(t.Context(), from, "")
	if err != nil {
		t.Fatal(err)
	}
	to := new(memstore.Bucket)
	for _, info := range infos {
		r, _, err := from.Get(t.Context(), info.Key, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Put(t.Context(), info.Key, r, -1, objstore.Condition{}); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

package dataplane

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/lib/backoff"
)

// history is what makes points. The zero value makes none.
type history struct {
	clock
	whole atomic.Bool // every database that the object store has was opened
	later atomic.Bool // a goroutine will make a point

	unknown sync.Mutex // guards the fields below
	failed  map[string]bool
	stats   PointStats
}

// PointStats counts points, and how long they held writes.
type PointStats struct {
	Made, Skipped uint64
	Longest       time.Duration
	Total         time.Duration
}

// Points returns what this process has made.
func (v *Volumes) Points() PointStats {
	v.history.unknown.Lock()
	defer v.history.unknown.Unlock()
	return v.history.stats
}

// broken records that a database could not be opened. Its log may have got a transaction.
func (h *history) broken(name string) {
	h.unknown.Lock()
	defer h.unknown.Unlock()
	if h.failed == nil {
		h.failed = map[string]bool{}
	}
	h.failed[name] = true
}

func (h *history) mended(name string) {
	h.unknown.Lock()
	defer h.unknown.Unlock()
	delete(h.failed, name)
}

func (h *history) count(made bool, held time.Duration) {
	h.unknown.Lock()
	defer h.unknown.Unlock()
	if !made {
		h.stats.Skipped++
		return
	}
	h.stats.Made++
	h.stats.Total += held
	h.stats.Longest = max(h.stats.Longest, held)
}

// beginHistory opens every database in the background: a point needs the positions of all. The first
// write does not wait for it. The caller holds claiming.
func (v *Volumes) beginHistory() {
	if !v.cfg.History {
		return
	}
	v.history.begin(v.grant.Epoch)
	v.work.Go(func() {
		for wait := time.Second; !v.openAll(v.early) && backoff.Sleep(v.early, wait) == nil; wait = min(2*wait, time.Minute) {
		}
	})
}

func (v *Volumes) openAll(ctx context.Context) bool {
	names, err := v.known(ctx)
	for _, name := range names {
		if err == nil && !isOwn(name) {
			err = v.follow(ctx, name)
		}
	}
	v.history.whole.Store(err == nil)
	return err == nil
}

// follow opens a database, and makes the times of points continue those of its log: the time of this machine may
// be behind that of the last owner's.
func (v *Volumes) follow(ctx context.Context, name string) error {
	db, err := v.database(ctx, name)
	if err != nil {
		return err
	}
	last, err := db.log.TimeOf(ctx, db.began)
	if err == nil {
		v.history.after(last)
	}
	return err
}

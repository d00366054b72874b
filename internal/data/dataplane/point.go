package dataplane

import (
	"context"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/lib/backoff"
)

// A point is a moment of all databases of the version that a child begins with. Its segments have one
// time, and the sum of the newest transactions of all databases: logs that lack one of these transactions
// have another sum, and the point is never offered then. Nothing else is written for it.

// pointHold is how long writers are held for those that must end before a point. A longer one makes the
// point wait instead: segments are shipped meanwhile.
const pointHold = 20 * time.Millisecond

// owedAfter is the longest wait for a point after transactions were staged without one.
const owedAfter = time.Second

// tryPoint makes a point, unless a long write is in progress or a position is not known. owed says that
// transactions were staged since the last one: then it makes a point even if nothing is committed since.
func (v *Volumes) tryPoint(ctx context.Context, owed bool) (made bool) {
	release, ok := v.gate.try(ctx, pointHold)
	if !ok {
		v.history.count(false, 0)
		return false
	}
	began := time.Now()
	fresh := v.pointHeld(owed)
	held := time.Since(began)
	release()
	v.history.count(len(fresh) > 0, held)
	for _, db := range fresh {
		poke(db.ship.wake)
		poke(db.ship.soon)
	}
	return len(fresh) > 0
}

// pointHeld is tryPoint while no writer runs. It returns the databases that got a segment.
func (v *Volumes) pointHeld(owed bool) (fresh []*database) {
	dbs := v.counted()
	if len(dbs) == 0 {
		return nil
	}
	m, sum := cowvfs.NewMoment(), uint64(0)
	for _, db := range dbs {
		id, more, err := db.file.Note(m)
		if err != nil {
			m.Settle(v.history.segment()) // an ordinary end of segments
			return nil
		}
		if sum += uint64(id); more {
			fresh = append(fresh, db)
		}
	}
	switch {
	case len(fresh) > 0:
		m.Settle(v.history.next(sum))
	case owed:
		fresh = v.emptyPoint(dbs, sum)
	}
	for _, db := range fresh {
		db.ship.noted()
	}
	return fresh
}

// counted returns the databases of a point; none if the position of one is not known.
func (v *Volumes) counted() []*database {
	h := &v.history
	if !v.cfg.History || !h.whole.Load() {
		return nil
	}
	v.mu.Lock()
	h.unknown.Lock()
	open := *v.open.Load()
	sure := len(open) == len(v.databases) && len(h.failed) == 0
	h.unknown.Unlock()
	v.mu.Unlock()
	if !sure {
		return nil
	}
	dbs := slices.DeleteFunc(slices.Clone(open), func(db *database) bool { return isOwn(db.name) })
	if slices.ContainsFunc(dbs, func(db *database) bool { return db.unclaimed.Load() && db.ship.late() }) {
		return nil // a late append of an earlier process may take the slot
	}
	return dbs
}

// emptyPoint appends a transaction that changes nothing to one database, the shared one if possible.
func (v *Volumes) emptyPoint(dbs []*database, sum uint64) []*database {
	dbs = slices.DeleteFunc(dbs, func(db *database) bool { return db.file.TXID() == 0 || db.unclaimed.Load() })
	if len(dbs) == 0 {
		return nil
	}
	db := dbs[max(0, slices.IndexFunc(dbs, func(db *database) bool { return db.name == volume.SharedDatabase }))]
	if err := db.file.StageEmpty(v.history.next(sum + 1)); err != nil {
		return nil // its disk fails, which the next write finds
	}
	db.ship.committed()
	return []*database{db}
}

// pointLater makes a point after a window, since transactions were staged without one.
func (v *Volumes) pointLater() {
	if v.history.later.Swap(true) {
		return
	}
	v.work.Go(func() {
		for backoff.Sleep(v.background, min(v.cfg.Window, owedAfter)) == nil {
			v.history.later.Store(false)
			if v.tryPoint(v.background, true) || v.history.later.Swap(true) {
				return
			}
		}
	})
}

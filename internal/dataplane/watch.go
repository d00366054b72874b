package dataplane

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
)

// lookLimit is how long a call waits to hear whose the data is. A store that
// does not answer lets nobody take over.
const lookLimit = 2 * time.Second

// watch notices that another host took the data over while nothing was appended:
// the log tells only who writes. A process that was suspended asks before it
// serves again; one that serves asks every third of the lease; one that is not
// used asks nothing.
type watch struct {
	used  atomic.Bool               // since the last look
	awake atomic.Pointer[time.Time] // when this process was last seen to run

	mu sync.Mutex // held while the store is asked
}

// slept tells whether this process was suspended for longer than d.
func (w *watch) slept(d time.Duration) bool {
	then, now := *w.awake.Load(), time.Now()
	// One clock stands still with the machine, the other one may be set.
	return max(now.Sub(then), now.Round(0).Sub(then.Round(0))) > d
}

func (w *watch) run() {
	now := time.Now()
	w.awake.Store(&now)
}

// mayServe is nil as long as this process may answer for the data.
func (v *Volumes) mayServe(ctx context.Context) error {
	if v.cfg.Lease > 0 {
		v.watch.used.Store(true)
		if v.watch.slept(v.cfg.Lease / 2) {
			v.wakeUp(ctx)
		}
	}
	return v.fate.check()
}

// wakeUp asks, once for all who were suspended together.
func (v *Volumes) wakeUp(ctx context.Context) {
	v.watch.mu.Lock()
	defer v.watch.mu.Unlock()
	if v.watch.slept(v.cfg.Lease / 2) {
		v.look(ctx)
		v.watch.run()
	}
}

// look asks the store whose the data is.
func (v *Volumes) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	if err := v.cfg.Branches.Holds(ctx, *v.grant); errors.Is(err, branch.ErrLost) {
		v.lose(err)
	}
}

// keepLooking looks while the data is used, until ctx ends.
func (v *Volumes) keepLooking(ctx context.Context) {
	for sleep(ctx, v.cfg.Lease/3) && v.fate.check() == nil {
		if v.watch.slept(v.cfg.Lease / 2) {
			continue // whoever comes next asks
		}
		v.watch.run()
		if v.watch.used.Swap(false) {
			v.look(ctx)
		}
	}
}

package dataplane

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// lookLimit is how long a call waits to hear whose the data is.
const lookLimit = 2 * time.Second

// watch notices that another host took the data over while nothing was appended:
// the log tells only who writes. A process that was suspended asks before it
// serves again, and does not serve until it knows; one that serves asks every
// third of the lease, and a store that does not answer changes nothing for it;
// one that is not used asks nothing.
type watch struct {
	used  atomic.Bool               // since the last look
	awake atomic.Pointer[time.Time] // when this process was last seen to run

	mu     sync.Mutex // held while the store is asked; guards failed
	failed time.Time  // when the store last did not answer
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
			if err := v.wakeUp(ctx); err != nil {
				return err
			}
		}
	}
	return v.fate.check()
}

// wakeUp asks, once for all who were suspended together. When the store does not
// answer they are refused, and a second later the next one asks again.
func (v *Volumes) wakeUp(ctx context.Context) error {
	v.watch.mu.Lock()
	defer v.watch.mu.Unlock()
	if !v.watch.slept(v.cfg.Lease/2) || v.fate.check() != nil {
		return nil
	}
	var err error
	if time.Since(v.watch.failed) > time.Second {
		asked := time.Now() // an answer is about that moment, however late it comes
		if err = v.look(context.WithoutCancel(ctx)); err == nil {
			v.watch.awake.Store(&asked)
			return nil
		}
		v.watch.failed = time.Now()
	}
	unknown := svc.Errorf(svc.Unavailable, "data_unconfirmed",
		"the process was suspended, and the object store does not say whether the data is still its own").Because(err)
	unknown.RetryAfter = time.Second
	return unknown
}

// look asks the store whose the data is. It is nil also when it is another's,
// which ends this process.
func (v *Volumes) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	err := v.cfg.Branches.Holds(ctx, *v.grant)
	if errors.Is(err, branch.ErrLost) {
		v.lose(err)
		return nil
	}
	return err
}

// keepLooking looks while the data is used, until ctx ends.
func (v *Volumes) keepLooking(ctx context.Context) {
	for sleep(ctx, v.cfg.Lease/3) && v.fate.check() == nil {
		if v.watch.slept(v.cfg.Lease / 2) {
			continue // whoever comes next asks
		}
		v.watch.run()
		if v.watch.used.Swap(false) {
			_ = v.look(ctx) // a store that does not answer lets nobody take over
		}
	}
}

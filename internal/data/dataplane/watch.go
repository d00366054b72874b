package dataplane

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

// lookLimit bounds one check of the ownership.
const lookLimit = 2 * time.Second

// watch detects a takeover by another node while nothing is appended: the log fences only
// writers. A process that was suspended confirms its ownership before it serves again. A process
// that serves checks every third of the lease; an unused process checks nothing.
//
// In async mode an object store that does not answer changes nothing for a process that serves: it
// answers reads on, although another node may have taken over if this one alone is cut off. In sync
// mode it has to confirm the ownership when its last confirmation is older than confirmedFor.
type watch struct {
	used      atomic.Bool               // since the last check
	awake     atomic.Pointer[time.Time] // when this process last ran for certain
	confirmed atomic.Pointer[time.Time] // when it last owned the data for certain

	mu     sync.Mutex // held during a check; guards failed
	failed time.Time  // of the last check without an answer
}

// confirmedFor is how long a confirmation of the ownership allows reads in sync mode. Before another
// node takes over, this node has not renewed its lease for a whole lease; it renews it every third.
// So a process that is cut off together with its node stops before the other one begins.
func (c *Config) confirmedFor() time.Duration { return c.Lease * 2 / 3 }

// passed is the time since then. The monotonic clock stops with the machine; the wall clock may be set.
func passed(then *time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(*then), now.Round(0).Sub(then.Round(0)))
}

// suspended reports whether this process was suspended for longer than d.
func (w *watch) suspended(d time.Duration) bool { return passed(w.awake.Load()) > d }

func (w *watch) run() {
	now := time.Now()
	w.awake.Store(&now)
}

// mayServe returns nil while this process may serve the data.
func (v *Volumes) mayServe(ctx context.Context) error {
	if v.cfg.Lease > 0 {
		v.watch.used.Store(true)
		if v.mustConfirm() {
			if err := v.confirm(ctx); err != nil {
				return err
			}
		}
	}
	return v.revoked.check()
}

// mustConfirm reports whether the ownership has to be confirmed before the data is served.
func (v *Volumes) mustConfirm() bool {
	return v.watch.suspended(v.cfg.Lease/2) || v.cfg.Sync && passed(v.watch.confirmed.Load()) > v.cfg.confirmedFor()
}

// confirm checks the ownership once for all callers that need it at the same time. Without an
// answer they are rejected, and the next check is a second later.
func (v *Volumes) confirm(ctx context.Context) error {
	v.watch.mu.Lock()
	defer v.watch.mu.Unlock()
	if !v.mustConfirm() || v.revoked.check() != nil {
		return nil
	}
	var err error
	if time.Since(v.watch.failed) > time.Second {
		asked := time.Now() // the answer is at least as new as the request
		if err = v.checkOwner(context.WithoutCancel(ctx)); err == nil {
			v.watch.awake.Store(&asked)
			return nil
		}
		v.watch.failed = time.Now()
	}
	return svc.Errorf(svc.Unavailable, svc.CodeDataUnconfirmed,
		"the object store has not confirmed for %s that this process still owns the data", passed(v.watch.confirmed.Load()).Round(time.Second)).
		Because(err).After(time.Second)
}

// checkOwner reads the record of the version and revokes the ownership if it was lost. It returns
// an error only when the object store does not answer.
func (v *Volumes) checkOwner(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	asked := time.Now()
	err := v.cfg.Branches.Holds(ctx, *v.grant)
	if errors.Is(err, branch.ErrLost) {
		v.revoke(err)
		return nil
	}
	if err == nil {
		v.watch.confirmed.Store(&asked)
	}
	return err
}

// watchOwner checks the ownership while the data is used, until ctx ends.
func (v *Volumes) watchOwner(ctx context.Context) {
	for backoff.Sleep(ctx, v.cfg.Lease/3) == nil && v.revoked.check() == nil {
		if v.watch.suspended(v.cfg.Lease / 2) {
			continue // the next call confirms the ownership
		}
		v.watch.run()
		if v.watch.used.Swap(false) {
			_ = v.checkOwner(ctx) // without an answer, the last confirmation stays the last one: see mustConfirm
		}
	}
}

package supervisor

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// transientRetry is the interval of starts while the data is unavailable.
const transientRetry = 2 * time.Second

// isTransient reports whether a start failed for a reason outside the version: the
// object store does not answer, another process reads the data, or no machine has room.
// Such a failure does not count as a crash.
func isTransient(err error) bool {
	switch svc.CodeOf(err) {
	case svc.CodeDataUnavailable, svc.CodeDataInUse, svc.CodeNoSpareHost, svc.CodeHostBundle:
		return true
	}
	return false
}

// pause is the wait of a crashed runtime for its next start.
type pause struct {
	from   time.Time // the crash
	until  time.Time
	served bool // the crashed process had served: requests may end the wait earlier
}

// crashed publishes the end of the runtime, after uptime, or 0 if it did not serve,
// and returns the pause before the next start. The caller holds ops.
func (u *unit) crashed(ctx context.Context, cause error, uptime time.Duration) pause {
	transient, wait, message := isTransient(cause), transientRetry, "data of the version unavailable; retrying the start"
	if !transient {
		message = "runtime crashed; restarting"
		if uptime >= u.cfg.Policy.Stable {
			u.crashes = 0
		}
		u.crashes++
		wait = u.cfg.Policy.wait(u.crashes, u.cfg.Wanted(u.ref))
		u.cfg.OnRestart(u.ref, svc.CodeOf(cause))
	}
	u.log.WarnContext(ctx, message, "error", text(cause), "uptime", uptime, "crashes_in_a_row", u.crashes, "retry_in", wait) //nolint:sloglint // one of two constants
	drain(u.asked)                                                                                                           // of earlier pauses
	drain(u.urgent)
	now := time.Now()
	p := pause{from: now, until: now.Add(wait), served: uptime > 0}
	u.change(func(r *svc.Runtime) {
		enter(r, svc.RuntimeBackoff, svc.Endpoint{}, cause)
		if r.RetryAt = p.until; !transient {
			r.Restarts++
		}
	})
	return p
}

// await waits until the end of p, which requests and Revive move forward within the
// limits of the policy. It returns false if ctx ends first.
func (u *unit) await(ctx context.Context, p pause) bool {
	timer := time.NewTimer(time.Until(p.until))
	defer timer.Stop()
	for {
		limit := u.cfg.Policy.Urgent
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-u.urgent:
		case <-u.asked:
			if !p.served { // the start fails without requests, too
				continue
			}
			limit = u.cfg.Policy.Asked
		}
		if sooner := p.from.Add(limit); sooner.Before(p.until) {
			p.until = sooner
			timer.Reset(time.Until(sooner))
			u.change(func(r *svc.Runtime) { r.RetryAt = sooner })
		}
	}
}

func drain(c chan struct{}) {
	select {
	case <-c:
	default:
	}
}

// hurry sends on u.asked or u.urgent. It does not block, and many calls count as one.
func hurry(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

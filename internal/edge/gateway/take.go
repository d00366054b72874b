package gateway

import (
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// take claims the runtime for the request in x. It waits while the production
// host is held [D20] and while the runtime starts, each within its limit. If it
// fails, it holds no claim.
func (r *Router) take(x *RouteRequest, w waiter) error {
	held, starting := r.cfg.HoldTimeout, r.cfg.StartWait
	for {
		to, err := r.find(x)
		if err != nil {
			return err
		}
		if x.claim.via = ""; to.project != nil {
			x.claim.via = to.project.name
			e, ok := to.project.gate.enter()
			if !ok {
				if err := r.waitHeld(w, e.over, &held, errHeld); err != nil {
					return err
				}
				continue
			}
			x.claim.epoch = e
			// Read the pointer again: only now is it certain to be of this epoch.
			if to, err = r.find(x); err != nil {
				x.claim.leave()
				return err
			}
		}
		err = r.takeVersion(x, to)
		if err == nil {
			return nil
		}
		x.claim.leave()
		switch {
		case errors.Is(err, errRetired): // another table is in place already
		case errors.Is(err, errStarting):
			limit := &starting
			if to.version.state.Planned {
				limit = &held
			}
			if err := r.waitHeld(w, to.version.replaced, limit, errNotStarted); err != nil {
				return err
			}
		case r.replaced(x, to): // its host name has another version meanwhile
		case svc.CodeOf(err) == svc.CodeRuntimeRestarting:
			r.asked(x)
			return err
		default:
			return err
		}
	}
}

// rouse asks once for the runtime of a version that sleeps.
func (r *Router) rouse(v *version) {
	if r.cfg.Rouse != nil && v.roused.CompareAndSwap(false, true) {
		r.cfg.Rouse(v.ref)
	}
}

// replaced reports whether the host name of to, which changes its version, has another
// version now.
func (r *Router) replaced(x *RouteRequest, to route) bool {
	if to.project == nil || to.version == nil {
		return false
	}
	now, err := r.find(x)
	return err == nil && now.version != nil && now.version.ref != to.version.ref
}

// asked records and reports a request to a version that is restarted after a wait.
func (r *Router) asked(x *RouteRequest) {
	x.claim.version.stats.of(x.claim.role).last.Store(x.start.UnixNano())
	if r.cfg.Asked != nil {
		r.cfg.Asked(x.claim.ref())
	}
}

// waitHeld waits for ch within the rest of a limit. If too many requests wait, or
// the limit is reached, it returns the error of late.
func (r *Router) waitHeld(w waiter, ch <-chan struct{}, left *time.Duration, late func() *svc.Error) error {
	defer r.held.Add(-1)
	if r.held.Add(1) > int64(r.cfg.MaxHeld) || *left <= 0 {
		return late()
	}
	began := time.Now()
	err := w.wait(ch, *left)
	*left -= time.Since(began)
	if errors.Is(err, errTimeout) || errors.Is(err, errClosing) {
		return late()
	}
	return err
}

// takeVersion claims the runtime of to's version if that version may serve x.
func (r *Router) takeVersion(x *RouteRequest, to route) error {
	v := to.version
	x.claim.version, x.claim.role = v, to.role
	serves := v != nil && (v.state.Status.Serves() || v.state.Socket != "" && x.knows(r.cfg.VerifySecret))
	switch {
	case v == nil:
		return errNoVersion(to.project)
	case !serves:
		return errStatus(v)
	case v.state.ReadOnly && x.mayChange():
		return errReadOnly(v.ref.Project)
	case x.inLoop && v.site.isUnread():
		return errBlocks
	case x.call == nil && x.findAsset(&r.cfg, v):
		x.count()
		return nil
	case v.state.Asleep && x.start.Before(v.state.RetryAt):
		return errNotStarted()
	case v.state.Asleep:
		r.rouse(v)
		return errStarting
	case v.state.Starting:
		return errStarting
	case !v.state.RetryAt.IsZero():
		return errRestarting(v, x.start)
	case v.upstream == nil:
		return errNoRuntime(v)
	case !v.upstream.acquire():
		return errRetired
	case r.isFull(v.upstream):
		v.upstream.release()
		return errVersionBusy(v)
	}
	x.claim.upstream = v.upstream
	x.count()
	return nil
}

// isFull reports whether the runtime u serves as many requests and websockets as it
// may, the caller's claim included.
func (r *Router) isFull(u *upstream) bool {
	n := u.count() + u.tunnels.Load()
	if u.delegated != nil {
		used := u.delegated.machine.Used()
		n += int64(used.inProgress()+used.Websockets) - u.grants.Load()
	}
	return n > int64(r.cfg.MaxConnsPerVersion)
}

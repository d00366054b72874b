package route

import (
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Take claims the runtime for the request in x. It waits while the production
// host is held [D20] and while the runtime starts, each within its limit. If it
// fails, it holds no claim.
func (r *Router) Take(x *Request, w Waiter) error {
	held, starting := r.cfg.HoldTimeout, r.cfg.StartWait
	for {
		to, err := r.find(x)
		if err != nil {
			return err
		}
		if x.Claim.via = ""; to.project != nil {
			x.Claim.via = to.project.name
			e, ok := to.project.gate.Enter()
			if !ok {
				if err := r.waitHeld(w, e.Over, &held, ErrHeld); err != nil {
					return err
				}
				continue
			}
			x.Claim.epoch = e
			// Read the pointer again: only now is it certain to be of this epoch.
			if to, err = r.find(x); err != nil {
				x.Claim.Leave()
				return err
			}
		}
		err = r.takeVersion(x, to)
		if err == nil {
			return nil
		}
		x.Claim.Leave()
		switch {
		case errors.Is(err, errRetired): // another table is in place already
		case errors.Is(err, errStarting):
			limit := &starting
			if to.version.State.Planned {
				limit = &held
			}
			if err := r.waitHeld(w, to.version.Replaced, limit, errNotStarted); err != nil {
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
func (r *Router) rouse(v *Version) {
	if r.cfg.Rouse != nil && v.roused.CompareAndSwap(false, true) {
		r.cfg.Rouse(v.Ref)
	}
}

// replaced reports whether the host name of to, which changes its version, has another
// version now.
func (r *Router) replaced(x *Request, to route) bool {
	if to.project == nil || to.version == nil {
		return false
	}
	now, err := r.find(x)
	return err == nil && now.version != nil && now.version.Ref != to.version.Ref
}

// asked records and reports a request to a version that is restarted after a wait.
func (r *Router) asked(x *Request) {
	x.Claim.Version.stats.of(x.Claim.Role).last.Store(x.Start.UnixNano())
	if r.cfg.Asked != nil {
		r.cfg.Asked(x.Claim.Ref())
	}
}

// waitHeld waits for ch within the rest of a limit. If too many requests wait, or
// the limit is reached, it returns the error of late.
func (r *Router) waitHeld(w Waiter, ch <-chan struct{}, left *time.Duration, late func() *svc.Error) error {
	defer r.held.Add(-1)
	if r.held.Add(1) > int64(r.cfg.MaxHeld) || *left <= 0 {
		return late()
	}
	began := time.Now()
	err := w.Wait(ch, *left)
	*left -= time.Since(began)
	if errors.Is(err, ErrTimeout) || errors.Is(err, ErrClosing) {
		return late()
	}
	return err
}

// takeVersion claims the runtime of to's version if that version may serve x.
func (r *Router) takeVersion(x *Request, to route) error {
	v := to.version
	x.Claim.Version, x.Claim.Role = v, to.role
	serves := v != nil && (v.State.Status.Serves() || v.State.Socket != "" && x.knows(r.cfg.VerifySecret))
	switch {
	case v == nil:
		return errNoVersion(to.project)
	case !serves:
		return errStatus(v)
	case v.State.ReadOnly && x.mayChange():
		return errReadOnly(v.Ref.Project)
	case x.InLoop && v.site.isUnread():
		return ErrBlocks
	case x.Call == nil && x.findAsset(&r.cfg, v):
		x.count()
		return nil
	case v.State.Asleep && x.Start.Before(v.State.RetryAt):
		return errNotStarted()
	case v.State.Asleep:
		r.rouse(v)
		return errStarting
	case v.State.Starting:
		return errStarting
	case !v.State.RetryAt.IsZero():
		return errRestarting(v, x.Start)
	case v.upstream == nil:
		return ErrNoRuntime(v)
	case !v.upstream.Acquire():
		return errRetired
	case r.isFull(v.upstream):
		v.upstream.Release()
		return errVersionBusy(v)
	}
	x.Claim.Upstream = v.upstream
	x.count()
	return nil
}

// isFull reports whether the runtime u serves as many requests and websockets as it
// may, the caller's claim included.
func (r *Router) isFull(u *Upstream) bool {
	n := u.Count() + u.tunnels.Load()
	if u.delegated != nil {
		used := u.delegated.machine.Used()
		n += int64(used.inProgress()+used.Websockets) - u.grants.Load()
	}
	return n > int64(r.cfg.MaxConnsPerVersion)
}

package supervisor

import (
	"cmp"
	"context"
	"errors"

	"github.com/svcctl/svcctl/internal/svc"
)

// Asked reports a request to a version that does not serve. If its last process had
// served, the version starts again at most Policy.Asked after the crash. Asked does not
// block, and many calls count as one.
func (s *Supervisor) Asked(ref svc.Ref) {
	if u := s.known(ref); u != nil {
		hurry(u.asked)
	}
}

// Restart restarts a version whose first start failed with cause as if it had crashed:
// for versions that were ready before. For a version that serves or restarts it does
// nothing. Without a failed start the error is Conflict, runtime_not_open.
func (s *Supervisor) Restart(ctx context.Context, ref svc.Ref, cause error) error {
	u, err := s.unit(ref, false)
	if err != nil {
		return err
	}
	return notOpen(ref, u.exclusively(ctx, func(ctx context.Context) error { return u.restartAfter(ctx, cause) }))
}

// Revive returns nil when a version serves. A version that waits after a crash starts
// at most Policy.Urgent after it. Errors: Conflict, version_not_serving, if the start
// fails or takes longer than ctx; Conflict, runtime_not_open, if the version has no
// runtime that is to serve.
func (s *Supervisor) Revive(ctx context.Context, ref svc.Ref) error {
	u, err := s.unit(ref, false)
	if err != nil {
		return err
	}
	return notOpen(ref, u.revive(ctx))
}

// revive is Supervisor.Revive.
func (u *unit) revive(ctx context.Context) error {
	now, before, changed := u.look()
	if now.State == svc.RuntimeStarting {
		before-- // this start counts
	}
	for starts := before; ; now, starts, changed = u.look() {
		switch now.State {
		case svc.RuntimeServing:
			if !u.current.Load().ended() {
				return nil
			} // else it has just crashed
		case svc.RuntimeBackoff:
			if starts > before {
				return notServing(now)
			}
			hurry(u.urgent)
		case svc.RuntimeStarting:
		case svc.RuntimeCrashed, svc.RuntimeStopped, svc.RuntimeAsleep:
			return errStopped
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return context.Cause(ctx)
			}
			return notServing(now)
		}
	}
}

// notServing returns the error of an operation on a version that must serve.
func notServing(now svc.Runtime) error {
	return svc.Errorf(svc.Conflict, svc.CodeVersionNotServing, "version %s does not serve: %s", now.Ref, cmp.Or(now.LastError, "it is starting")).
		WithHint("read the log of the version; the service keeps restarting it").After(retryAfter(now))
}

// Runtime describes the runtime of a version, without measuring its processes. It
// returns false for a version without one.
func (s *Supervisor) Runtime(ref svc.Ref) (svc.Runtime, bool) {
	u := s.known(ref)
	if u == nil {
		return svc.Runtime{}, false
	}
	return u.describe(), true
}

// known returns the unit of ref, or nil.
func (s *Supervisor) known(ref svc.Ref) *unit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.units[ref]
}

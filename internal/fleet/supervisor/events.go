package supervisor

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// armLimit is the time limit for a host to arm or disarm its version.
const armLimit = 5 * time.Second

// Dispatch sends an event to the worker of a version that serves, and waits until it
// ends. The end of ctx ends the event. An error means that the worker did not receive
// the event; it is Unavailable if the version does not serve.
func (s *Supervisor) Dispatch(ctx context.Context, ref svc.Ref, e svc.Event) (svc.EventResult, error) {
	p, err := s.serving(ref)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return svc.EventResult{}, err
	}
	p.pulse.touch()
	began := time.Now()
	r, err := p.Client().Dispatch(ctx, e)
	switch code := svc.CodeOf(err); {
	case err == nil:
		return r, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return unfinished(began, svc.OutcomeTimeout, "the event was ended at its deadline"), nil
	case ctx.Err() != nil:
		return unfinished(began, svc.OutcomeCanceled, "the event was canceled"), nil //nolint:nilerr // the outcome says it
	case code == svc.CodeNotServing || code == svc.CodeRuntimeStopping:
		return r, unavailable(svc.Runtime{Ref: ref}).Because(err)
	case errors.As(err, new(*svc.Error)):
		return r, err
	}
	if p.stopping.Load() {
		return unfinished(began, svc.OutcomeCanceled, "the version stopped before the event ended"), nil
	}
	return unfinished(began, svc.OutcomeExited, text(p.explain(ctx, err))), nil
}

// unfinished returns the result of an event for which the host returned none.
func unfinished(began time.Time, o svc.Outcome, message string) svc.EventResult {
	return svc.EventResult{Outcome: o, Duration: time.Since(began), Error: &svc.EventError{Message: message}}
}

// NextWake returns when a version that serves needs to run next for its own work, such
// as a cron trigger.
func (s *Supervisor) NextWake(ctx context.Context, ref svc.Ref) (svc.Wake, error) {
	p, err := s.serving(ref)
	if err != nil {
		return svc.Wake{}, err
	}
	return p.Client().NextWake(ctx)
}

// Queues returns the queues of all versions that serve and have a consumer. A host that
// does not answer is omitted.
func (s *Supervisor) Queues(ctx context.Context) map[svc.Ref][]svc.QueueStatus {
	all := map[svc.Ref][]svc.QueueStatus{}
	for _, r := range s.Runtimes() {
		if r.State != svc.RuntimeServing {
			continue
		}
		if w, err := s.NextWake(ctx, r.Ref); err == nil && len(w.Queues) > 0 {
			all[r.Ref] = w.Queues
		}
	}
	return all
}

// serving returns the process of a version that serves.
func (s *Supervisor) serving(ref svc.Ref) (*process, error) {
	u, err := s.unit(ref, false)
	if err != nil && !errors.Is(err, svc.Conflict) {
		return nil, err
	}
	if err != nil {
		return nil, unavailable(svc.Runtime{Ref: ref})
	}
	now := u.describe()
	if now.State != svc.RuntimeServing {
		return nil, unavailable(now)
	}
	p := u.current.Load()
	if p.ended() { // it has just crashed
		return nil, unavailable(now)
	}
	return p, nil
}

// ended reports whether the control line has ended, which is the first sign of the end
// of a process.
func (p *process) ended() bool {
	select {
	case <-p.Client().Ended():
		return true
	default:
		return false
	}
}

// Arm sets which events a version gets, until it is stopped; the supervisor passes the value to each
// restarted host. Without a runtime it does nothing.
// spec: [C10.1], [C10.2].
func (s *Supervisor) Arm(ctx context.Context, ref svc.Ref, a svc.Arming) error {
	u, err := s.unit(ref, false)
	if err != nil {
		return nil
	}
	u.arming.Lock()
	defer u.arming.Unlock()
	u.armed, u.told = a, true
	return u.current.Load().arm(ctx, a)
}

// launched makes p the version's process, and arms it like the previous one.
func (u *unit) launched(ctx context.Context, p *process) {
	u.arming.Lock()
	defer u.arming.Unlock()
	p.armed.Events, p.armed.ReadOnly = u.spec.BeginsWithEvents(), p.readOnly
	if !u.told {
		u.armed = p.armed
	}
	u.current.Store(p)
	if err := p.arm(ctx, u.armed); err != nil {
		u.log.WarnContext(ctx, "arming the version failed", "error", err)
	}
}

// opening returns the spec for a worker host that opens the data: with the current read-only setting, so
// that no write precedes the call of arm.
func (u *unit) opening() svc.RuntimeSpec {
	u.arming.Lock()
	defer u.arming.Unlock()
	spec := u.spec
	if u.told {
		spec.ReadOnly = u.armed.ReadOnly
	}
	return spec
}

// arm gives the host the state a, unless it has that state. The caller holds unit.arming.
func (p *process) arm(ctx context.Context, a svc.Arming) error {
	if !p.alive() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, armLimit)
	defer cancel()
	if p.armed.ReadOnly != a.ReadOnly {
		if err := p.Client().ReadOnly(ctx, a.ReadOnly); err != nil {
			return err
		}
		p.armed.ReadOnly = a.ReadOnly
	}
	if p.armed.Events != a.Events {
		if err := p.Client().Events(ctx, a.Events); err != nil {
			return err
		}
		p.armed.Events = a.Events
	}
	if p.armed.Crons != a.Crons {
		if err := p.Client().Arm(ctx, a.Crons); err != nil {
			return err
		}
		p.armed.Crons = a.Crons
	}
	return nil
}

// onSpans hands over the spans that a host reports, if there are any.
func (c *Config) onSpans(list []svc.Span) {
	if len(list) > 0 && c.OnSpans != nil {
		c.OnSpans(list)
	}
}

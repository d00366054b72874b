package deploy

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Sleep says which versions may sleep over a restart of the daemon.
type Sleep struct {
	On         bool // SVC_SLEEP_IDLE
	Production bool // SVC_SLEEP_PRODUCTION
	AtStart    bool // all versions but production sleep when the daemon has started: for watch mode
}

// sleepDrain is the time for requests that began while a version falls asleep.
const sleepDrain = 5 * time.Second

// rouseRetry is the time after a failed start of a version that sleeps until requests try
// it again, and workRetry the time until its own work does.
const (
	rouseRetry = time.Second
	workRetry  = 30 * time.Second
)

// sleeps reports whether a version sleeps when the daemon has started: the record says so and
// the settings allow it, or the settings say so.
func (s *Service) sleeps(v svc.Version) bool {
	if s.deps.Sleep.AtStart && v.Status.Serves() && !v.Production {
		return true
	}
	if v.Events == svc.EventsHandedOver && !v.Production && !v.AsleepAt.IsZero() && v.Status.Serves() {
		return true // a release put it to sleep, and it has no work of its own
	}
	return s.deps.Sleep.On && !v.AsleepAt.IsZero() && v.Status.Serves() && (!v.Production || s.deps.Sleep.Production)
}

// Sleep stops the runtime of a version that serves; from now on requests wait for its next
// start. A version whose start or deploy runs, that has requests in flight for longer than a moment, or
// whose machine has admitted a request that the gateway had not heard of, stays awake without an error.
func (s *Service) Sleep(ctx context.Context, ref svc.Ref) error {
	if s.locks.Busy(ref) {
		return nil
	}
	own, end, err := s.locks.Lock(ctx, ref)
	if err != nil {
		return err
	}
	defer end()
	v, err := s.deps.Versions.Version(own, ref)
	if err != nil || !v.Status.Serves() {
		return err
	}
	now := time.Now()
	used := s.deps.Gateway.LastRequest(ref)
	s.routes.fallAsleep(ref)
	draining, cancel := context.WithTimeout(own, sleepDrain)
	defer cancel()
	if s.deps.Gateway.DrainVersion(draining, ref) != nil || s.deps.Gateway.LastRequest(ref).After(used) {
		s.routes.awake(ref)
		return nil
	}
	wake, err := s.deps.Runtimes.Sleep(own, ref)
	if err != nil {
		s.routes.awake(ref)
		return err
	}
	err = s.deps.Versions.SetAsleep(own, ref, now, wake.At)
	s.routes.sleeps(ref, now, wake.At)
	log := s.log.With("project", ref.Project, "version", ref.Version)
	if !wake.At.IsZero() {
		log = log.With("wake_at", wake.At)
	}
	log.InfoContext(ctx, "version sleeps")
	if errors.Is(err, svc.Conflict) { // archived meanwhile
		return nil
	}
	return err
}

// Awake returns when the runtime of a version that sleeps, or is being started from sleep,
// serves; immediately for other versions. The end of ctx ends the start. Errors: those of
// Revive, and those of a start that was not tried, after which the version sleeps on.
func (s *Service) Awake(ctx context.Context, ref svc.Ref) error {
	if _, asleep := s.routes.asleep(ref); !asleep && !s.routes.isRousing(ref) {
		return nil
	}
	own, end, err := s.locks.Lock(ctx, ref)
	if err != nil {
		return err
	}
	defer end()
	if _, asleep := s.routes.asleep(ref); !asleep {
		return nil
	}
	v, err := s.serving(own, ref)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := s.startReady(own, v); err != nil {
		return err
	}
	s.deps.Observer.RouseDone(time.Since(began))
	s.log.InfoContext(ctx, "version started from sleep", "project", ref.Project, "version", ref.Version, "duration", time.Since(began))
	return nil
}

// rouse records that a version that slept is being started: first in the registry, because
// the time of its next work is not known from now on.
func (s *Service) rouse(ctx context.Context, v svc.Version) error {
	if _, asleep := s.routes.asleep(v.Ref); !asleep && v.AsleepAt.IsZero() {
		return nil
	}
	if err := s.deps.Versions.SetAsleep(ctx, v.Ref, time.Time{}, time.Time{}); err != nil {
		return err
	}
	s.routes.rouse(v.Ref)
	return nil
}

// notRoused lets a version sleep on whose start was not tried, for example because its
// bundle cannot be fetched. It does nothing for a version that did not sleep.
func (s *Service) notRoused(ctx context.Context, v svc.Version, cause error) {
	now := time.Now()
	if !s.routes.isRousing(v.Ref) {
		return
	}
	s.log.WarnContext(ctx, "starting a version that sleeps failed", "project", v.Project, "version", v.Version, "error", redact(cause.Error(), v.Env))
	s.routes.fallAsleep(v.Ref)
	s.routes.sleeps(v.Ref, now, now.Add(workRetry))
	s.routes.retryAsleep(v.Ref, now.Add(rouseRetry))
	if err := s.deps.Versions.SetAsleep(context.WithoutCancel(ctx), v.Ref, now, now.Add(workRetry)); err != nil {
		s.log.WarnContext(ctx, "recording that a version sleeps failed", "project", v.Project, "version", v.Version, "error", err)
	}
}

// Asleep describes the runtime of a version that sleeps; false for other versions. Until
// its processes have ended the state is still serving.
func (s *Service) Asleep(ref svc.Ref) (svc.Runtime, bool) { return s.routes.asleep(ref) }

// Rousing reports whether the runtime of a version that slept is starting.
func (s *Service) Rousing(ref svc.Ref) bool { return s.routes.isRousing(ref) }

// AllAsleep describes the runtimes of the versions that sleep, sorted by version.
func (s *Service) AllAsleep() []svc.Runtime { return s.routes.allAsleep() }

// fallAsleep publishes that requests to a known version wait for the next start of its
// runtime, which is about to be stopped, or for the first one.
func (t *routes) fallAsleep(ref svc.Ref) {
	t.update(ref, func(r *route) bool {
		if !r.status.Serves() && r.status != svc.StatusDeploying {
			return false
		}
		r.asleep, r.rousing, r.failed, r.retryAt = true, false, false, time.Time{}
		r.since = time.Time{}
		return true
	})
}

// sleeps records that a version that fell asleep has no processes since a time, and when it
// must run for its own work.
func (t *routes) sleeps(ref svc.Ref, since, wakeAt time.Time) {
	t.update(ref, func(r *route) bool {
		if r.asleep {
			r.since, r.wakeAt = since, wakeAt
		}
		return false // the gateway does not know these times
	})
}

// retryAsleep publishes when a request may start a version that sleeps.
func (t *routes) retryAsleep(ref svc.Ref, at time.Time) {
	t.updateAsleep(ref, func(r *route) { r.retryAt = at })
}

// awake publishes that a version did not fall asleep.
func (t *routes) awake(ref svc.Ref) {
	t.updateAsleep(ref, func(r *route) { r.asleep = false })
}

// rouse publishes that the runtime of a version that sleeps is starting.
func (t *routes) rouse(ref svc.Ref) {
	t.updateAsleep(ref, func(r *route) { r.asleep, r.rousing, r.retryAt = false, true, time.Time{} })
}

// updateAsleep publishes a change of a version that sleeps.
func (t *routes) updateAsleep(ref svc.Ref, change func(r *route)) {
	t.update(ref, func(r *route) bool {
		slept := r.asleep
		if slept {
			change(r)
		}
		return slept
	})
}

func (t *routes) isRousing(ref svc.Ref) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.known[ref]
	return r != nil && r.rousing
}

// asleep describes a version that sleeps.
func (t *routes) asleep(ref svc.Ref) (svc.Runtime, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.known[ref]
	if r == nil || !r.asleep {
		return svc.Runtime{}, false
	}
	if r.since.IsZero() {
		return svc.Runtime{Ref: ref, State: svc.RuntimeServing}, true
	}
	return svc.Runtime{Ref: ref, State: svc.RuntimeAsleep, Since: r.since, WakeAt: r.wakeAt}, true
}

func (t *routes) allAsleep() (list []svc.Runtime) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for ref, r := range t.known {
		if r.asleep && !r.since.IsZero() {
			list = append(list, svc.Runtime{Ref: ref, State: svc.RuntimeAsleep, Since: r.since, WakeAt: r.wakeAt})
		}
	}
	slices.SortFunc(list, func(a, b svc.Runtime) int { return a.Ref.Compare(b.Ref) })
	return list
}

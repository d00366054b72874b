package lifecycle

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// wake is one wake under way, which any number of callers wait for.
type wake struct {
	ref    svc.Ref
	done   chan struct{}
	err    error // set before done is closed
	cancel context.CancelCauseFunc
}

// Wake brings an archived version back: it is deploying while its process
// starts, then ready. It returns the record when the version serves, at once if
// it does already; after WakeWait it returns it as it is, deploying, and the
// wake goes on. Calls while a wake is under way join it.
//
// Errors: Unavailable, wake_failed, and the version is archived again;
// Conflict, version_not_ready, for one that never was ready; Gone,
// version_destroyed; NotFound. spec: POST …/wake; [D17].
func (s *Service) Wake(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	w, err := s.beginWake(ctx, ref)
	if err != nil {
		return svc.Version{}, err
	}
	patience := time.NewTimer(s.deps.WakeWait)
	defer patience.Stop()
	select {
	case <-w.done:
		if w.err != nil {
			return svc.Version{}, w.err
		}
	case <-patience.C:
	case <-s.quit:
	case <-ctx.Done():
		return svc.Version{}, context.Cause(ctx)
	}
	return s.deps.Versions.Version(ctx, ref)
}

// beginWake joins the wake under way, or starts one, which goes on without its
// caller.
func (s *Service) beginWake(ctx context.Context, ref svc.Ref) (*wake, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopped:
		return nil, errStopping
	case s.wakes[ref] != nil:
		return s.wakes[ref], nil
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	w := &wake{ref: ref, done: make(chan struct{}), cancel: cancel}
	s.wakes[ref] = w
	s.verbs.Go(func() {
		defer cancel(nil)
		w.err = s.wake(ctx, w)
		s.settleWake(w)
		close(w.done)
	})
	return w, nil
}

// settleWake lets nobody join a wake any more. That is before the move that ends
// it: whoever sees the version ready may archive it, and whoever sees it archived
// again may wake it again; they wait for the version's turn.
func (s *Service) settleWake(w *wake) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wakes[w.ref] == w {
		delete(s.wakes, w.ref)
	}
}

func (s *Service) waking(ref svc.Ref) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wakes[ref] != nil
}

// endWake ends a wake under way and waits for its end.
func (s *Service) endWake(ctx context.Context, ref svc.Ref, cause error) error {
	s.mu.Lock()
	w := s.wakes[ref]
	s.mu.Unlock()
	if w == nil {
		return nil
	}
	w.cancel(cause)
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wake does the work in the version's turn. Only the end of ctx, which endWake
// brings about, and Stop cut it off.
func (s *Service) wake(ctx context.Context, w *wake) error {
	s.endNoted(s.unasked, w.ref)
	own, end, err := s.begin(ctx, w.ref)
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithTimeoutCause(ctx, s.deps.WakeLimit, errWakeLimit)
	defer cancel()
	began := time.Now()
	v, serves, err := s.enterWake(own, w.ref)
	if err != nil || serves {
		return err
	}
	work, give := context.WithCancelCause(own)
	defer give(nil)
	defer context.AfterFunc(ctx, func() { give(context.Cause(ctx)) })()
	if err := s.bringUp(work, w, v); err != nil {
		if cause := context.Cause(work); cause != nil {
			err = cause
		}
		return s.sleepAgain(own, w, v, err)
	}
	s.deps.Observer.WakeDone(time.Since(began).Seconds())
	s.logger(w.ref).InfoContext(own, "version serves again", "took", time.Since(began))
	return nil
}

// enterWake is the move that decides. A version that a wake before this one left
// deploying has it behind itself.
func (s *Service) enterWake(ctx context.Context, ref svc.Ref) (v svc.Version, serves bool, err error) {
	v, err = s.deps.Versions.Version(ctx, ref)
	switch {
	case err != nil:
		return svc.Version{}, false, err
	case v.Status.Serves():
		return v, true, nil
	case v.Status == svc.StatusDestroyed:
		return svc.Version{}, false, destroyed(ref)
	case isWaking(v):
		return v, false, nil
	case v.Status != svc.StatusArchived:
		return svc.Version{}, false, svc.Errorf(svc.Conflict, "version_not_ready", "version %s is %s; only an archived version can be woken", ref, v.Status).
			WithHint("%s", hintFor(v))
	}
	failpoint.Hit("lifecycle/wake/started")
	if v, err = s.deps.Versions.Move(ctx, ref, svc.TriggerWake, svc.Change{}); err != nil {
		return svc.Version{}, false, err
	}
	failpoint.Hit("lifecycle/wake/moved")
	s.deps.Routes.StatusChanged(ref, v.Status)
	return v, false, nil
}

// isWaking tells a version that wakes from one that is deployed.
func isWaking(v svc.Version) bool { return v.Status == svc.StatusDeploying && !v.ReadyAt.IsZero() }

func hintFor(v svc.Version) string {
	if v.Status == svc.StatusFailed {
		return "create a new version"
	}
	return "wait until it is ready"
}

// bringUp takes a version from its process to ready. The end of ctx gives it up.
func (s *Service) bringUp(ctx context.Context, w *wake, v svc.Version) error {
	if err := s.deps.Runtimes.Start(ctx, v.Ref); err != nil {
		return err
	}
	failpoint.Hit("lifecycle/wake/served")
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx = context.WithoutCancel(ctx) // nobody is to wonder whether the move was made
	s.settleWake(w)
	defer s.deps.Routes.AlmostReady(v.Ref)()
	v, err := s.deps.Versions.Move(ctx, v.Ref, svc.TriggerActivate, svc.Change{Detail: "woken"})
	if err != nil {
		return err
	}
	failpoint.Hit("lifecycle/wake/done")
	s.deps.Routes.StatusChanged(v.Ref, v.Status)
	return nil
}

var errWakeLimit = svc.Errorf(svc.Unavailable, "step_timeout", "it did not serve in time")

// sleepAgain takes a version whose wake failed back: first the process, then
// the status, so that no archived version has one. When the daemon stops, the
// version is left as it is, for the next start.
func (s *Service) sleepAgain(ctx context.Context, w *wake, v svc.Version, cause error) error {
	if errors.Is(cause, errStopping) {
		return errStopping
	}
	known := svc.AsError(cause)
	reason := known.Code + ": " + known.Detail
	log := s.logger(v.Ref)
	log.WarnContext(ctx, "wake failed", "error", cause)
	if err := s.deps.Runtimes.Stop(ctx, v.Ref); err != nil {
		return errors.Join(cause, err) // it stays deploying: the next wake goes on
	}
	failpoint.Hit("lifecycle/wake/stopped")
	s.settleWake(w)
	moved, err := s.deps.Versions.Move(ctx, v.Ref, svc.TriggerWakeFail, svc.Change{Detail: reason})
	if err != nil {
		return errors.Join(cause, err)
	}
	s.deps.Routes.StatusChanged(v.Ref, moved.Status)
	if errors.Is(cause, errGivenUp) {
		return cause
	}
	failed := svc.Errorf(svc.Unavailable, "wake_failed", "version %s did not start: %s", v.Ref, reason).
		WithHint("it is archived again; its logs may say more").Because(cause)
	return errors.Join(failed, s.rest(ctx, v.Ref))
}

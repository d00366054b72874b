package lifecycle

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/lib/keyed"
	"github.com/svcctl/svcctl/internal/lib/service"
	"github.com/svcctl/svcctl/internal/svc"
)

// Wake starts an archived version: its status is deploying while its process starts,
// then ready. It returns the record when the version serves, immediately if it
// already does. After WakeWait it returns the record with status deploying, and the
// wake continues. The runtime of a ready version that crashed is started now.
// Concurrent calls share one wake.
//
// Errors: Unavailable, wake_failed (the version is archived again); Conflict,
// version_not_serving, for a ready version whose runtime does not start, and
// version_not_ready for a version that was never ready; Gone, version_destroyed;
// NotFound. spec: [C9.7] [D17].
func (s *Service) Wake(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	_, end, err := s.work.Begin(ctx)
	if err != nil {
		return svc.Version{}, errStopping
	}
	defer end()
	waiting, cancel := s.work.Until(ctx)
	defer cancel()
	call := s.startWake(ctx, ref)
	select {
	case <-call.Done():
		if err := call.Err(); err != nil {
			return svc.Version{}, err
		}
	case <-time.After(s.deps.WakeWait):
	case <-waiting.Done():
		if ctx.Err() != nil {
			return svc.Version{}, context.Cause(ctx)
		}
	}
	return s.deps.Versions.Version(ctx, ref)
}

// startWake joins the running wake or starts one, which does not end with its
// caller.
func (s *Service) startWake(ctx context.Context, ref svc.Ref) *keyed.Call {
	return s.wakes.Start(ctx, ref, func(ctx context.Context, settle func()) error {
		return s.wake(ctx, wake{ref, settle})
	})
}

// wake is one running wake.
type wake struct {
	ref svc.Ref
	// settle stops callers from joining the wake. It is called before the transition
	// that ends the wake: a client that reads the new status can archive or wake the
	// version, and waits for its lock.
	settle func()
}

// wake wakes a version under its lock. Only Destroy, by canceling ctx, and Stop
// interrupt it.
func (s *Service) wake(ctx context.Context, w wake) error {
	if err := s.background.Interrupt(ctx, w.ref, errWoken); err != nil {
		return err
	}
	own, end, err := s.begin(ctx, w.ref)
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithTimeoutCause(ctx, s.deps.WakeLimit, errWakeLimit)
	defer cancel()
	began := time.Now()
	v, serves, err := s.enterWake(own, w.ref)
	if err != nil {
		return err
	}
	if serves {
		return s.revive(ctx, w.ref)
	}
	work, stop := context.WithCancelCause(own)
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(context.Cause(ctx)) })()
	if err := s.serve(work, w, v); err != nil {
		if cause := context.Cause(work); cause != nil {
			err = cause
		}
		return s.fail(own, w, v, err)
	}
	s.deps.Observer.WakeDone(time.Since(began))
	s.logger(w.ref).InfoContext(own, "version woken", "duration", time.Since(began))
	return nil
}

// enterWake moves the version to deploying, unless an interrupted wake has done so.
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
		return svc.Version{}, false, svc.Errorf(svc.Conflict, svc.CodeVersionNotReady, "version %s is %s; only an archived version can be woken", ref, v.Status).
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

// revive starts the runtime of a ready version if it does not serve. It ends before
// WakeWait, so that the caller gets the error.
func (s *Service) revive(ctx context.Context, ref svc.Ref) error {
	ctx, cancel := context.WithTimeout(ctx, s.deps.WakeWait*2/3)
	defer cancel()
	return s.deps.Runtimes.Revive(ctx, ref)
}

// isWaking reports whether v is being woken rather than deployed.
func isWaking(v svc.Version) bool { return v.Status == svc.StatusDeploying && !v.ReadyAt.IsZero() }

func hintFor(v svc.Version) string {
	if v.Status == svc.StatusFailed {
		return "create a new version"
	}
	return "wait until it is ready"
}

// serve starts the runtime of a version and moves the version to ready.
func (s *Service) serve(ctx context.Context, w wake, v svc.Version) error {
	if err := s.deps.Runtimes.Start(ctx, v.Ref); err != nil {
		return err
	}
	failpoint.Hit("lifecycle/wake/served")
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx = context.WithoutCancel(ctx) // the outcome of the transition must be known
	w.settle()
	defer s.deps.Routes.HoldUntilReady(v.Ref)()
	v, err := s.deps.Versions.Move(ctx, v.Ref, svc.TriggerActivate, svc.Change{Detail: "woken"})
	if err != nil {
		return err
	}
	failpoint.Hit("lifecycle/wake/done")
	s.deps.Routes.StatusChanged(v.Ref, v.Status)
	return nil
}

// errWoken is the cause when a wake interrupts an archive in the background.
var errWoken = errors.New("the version is being woken")

var errWakeLimit = svc.Errorf(svc.Unavailable, svc.CodeStepTimeout, "the worker did not serve in time")

// fail archives a version whose wake failed: it stops the process before it changes
// the status, so that no archived version has a process. When the daemon stops, the
// version stays deploying for the next start.
func (s *Service) fail(ctx context.Context, w wake, v svc.Version, cause error) error {
	if errors.Is(cause, service.ErrStopped) {
		return errStopping
	}
	known := svc.AsError(cause)
	reason := known.Code + ": " + known.Detail
	log := s.logger(v.Ref)
	log.WarnContext(ctx, "wake failed; archiving the version again", "error", cause)
	if err := s.deps.Runtimes.Stop(ctx, v.Ref); err != nil {
		return errors.Join(cause, err) // it stays deploying: the next wake continues
	}
	failpoint.Hit("lifecycle/wake/stopped")
	w.settle()
	moved, err := s.deps.Versions.Move(ctx, v.Ref, svc.TriggerWakeFail, svc.Change{Detail: reason})
	if err != nil {
		return errors.Join(cause, err)
	}
	s.deps.Routes.StatusChanged(v.Ref, moved.Status)
	if errors.Is(cause, errDestroying) {
		return cause
	}
	failed := svc.Errorf(svc.Unavailable, svc.CodeWakeFailed, "version %s did not start: %s", v.Ref, reason).
		WithHint("read the logs of the version; it is archived again").Because(cause)
	return errors.Join(failed, s.finishArchive(ctx, v.Ref))
}

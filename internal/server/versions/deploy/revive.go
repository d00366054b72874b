package deploy

import (
	"context"
	"errors"

	"github.com/svcctl/svcctl/internal/svc"
)

// Revive returns nil when a version whose status serves has a runtime that serves, and
// starts the runtime if it does not. Errors: Conflict, version_not_serving, if it does
// not start before ctx ends, and version_not_ready for another status.
func (s *Service) Revive(ctx context.Context, ref svc.Ref) error {
	err := s.deps.Runtimes.Revive(ctx, ref)
	if svc.CodeOf(err) != svc.CodeRuntimeNotOpen {
		return err
	}
	own, end, err := s.locks.Lock(ctx, ref) // Restore may be starting it
	if err != nil {
		return notServing(svc.Version{Ref: ref}, err)
	}
	defer end()
	err = s.deps.Runtimes.Revive(own, ref)
	if svc.CodeOf(err) != svc.CodeRuntimeNotOpen {
		return err
	}
	v, err := s.serving(own, ref)
	if err != nil {
		return err
	}
	if err = s.startReady(own, v); err != nil && svc.CodeOf(err) != svc.CodeVersionNotServing {
		return notServing(v, err)
	}
	return err
}

// serving returns a version whose status serves. Errors: Conflict, version_not_ready, for
// another status.
func (s *Service) serving(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	v, err := s.deps.Versions.Version(ctx, ref)
	if err == nil && !v.Status.Serves() {
		err = svc.Errorf(svc.Conflict, svc.CodeVersionNotReady, "version %s is %s", ref, v.Status)
	}
	return v, err
}

// startReady starts the runtime of a version whose status serves. If the runtime fails
// to start, it is restarted as if it had crashed, and the error is Conflict,
// version_not_serving. After another error there is no runtime. The caller holds the
// lock of the version.
func (s *Service) startReady(ctx context.Context, v svc.Version) error {
	endpoint, err := s.start(ctx, v)
	if err == nil {
		s.routes.started(v.Ref, &endpoint)
		return nil
	}
	if errors.Is(ctx.Err(), context.Canceled) { // the daemon or the version is being stopped
		return err
	}
	if s.deps.Runtimes.Restart(context.WithoutCancel(ctx), v.Ref, err) != nil {
		s.notRoused(ctx, v, err)
		return err
	}
	s.routes.started(v.Ref, nil)
	return notServing(v, err)
}

// notServing returns the error of an operation on a version that must serve.
func notServing(v svc.Version, cause error) error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return svc.Errorf(svc.Conflict, svc.CodeVersionNotServing, "version %s does not serve: its start takes long", v.Ref).
			WithHint("try again when the version serves")
	}
	known := svc.AsError(forUsers(cause, v.Env))
	return svc.Errorf(svc.Conflict, svc.CodeVersionNotServing, "version %s does not serve: %s: %s", v.Ref, known.Code, known.Detail).
		WithHint("read the log of the version; the service keeps restarting it")
}

package deploy

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// Restart stops the runtime of a version that serves and starts it with the overrides
// env, which the caller records afterwards. If that start fails, the runtime is
// started with the recorded overrides again, and the error, which is written for
// users, is that of the failed start. spec: [C5.22].
func (s *Service) Restart(ctx context.Context, ref svc.Ref, env map[string]string) error {
	own, end, err := s.locks.Lock(ctx, ref)
	if err != nil {
		return err
	}
	defer end()
	v, err := s.serving(own, ref)
	if err != nil {
		return err
	}
	next := v
	next.Env = env
	failed := s.startAgain(own, next)
	if failed == nil || own.Err() != nil {
		return failed
	}
	log := s.log.With("project", ref.Project, "version", ref.Version)
	shown := forUsers(forUsers(failed, env), v.Env)
	log.WarnContext(ctx, "start with new variables failed; starting with the old ones", "error", shown)
	if err := s.deps.Runtimes.StopVersion(own, ref); err != nil {
		return err
	}
	if err := s.startReady(own, v); err != nil {
		log.ErrorContext(ctx, "start with the old variables failed; the runtime keeps restarting", "error", redact(err.Error(), v.Env))
	}
	return shown
}

// startAgain stops the runtime of a version and starts it as v says.
func (s *Service) startAgain(ctx context.Context, v svc.Version) error {
	if err := s.deps.Runtimes.StopVersion(ctx, v.Ref); err != nil {
		return err
	}
	endpoint, err := s.start(ctx, v)
	if err != nil {
		return err
	}
	s.routes.started(v.Ref, &endpoint)
	return nil
}

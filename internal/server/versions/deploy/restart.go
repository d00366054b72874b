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
	return s.restart(ctx, ref, func(r *run) { r.v.Env = env })
}

// restart starts the runtime of a version that serves again, changed by change. If that fails, it starts
// what is recorded.
func (s *Service) restart(ctx context.Context, ref svc.Ref, change func(*run)) error {
	own, end, err := s.locks.Lock(ctx, ref)
	if err != nil {
		return err
	}
	defer end()
	v, err := s.serving(own, ref)
	if err != nil {
		return err
	}
	next := &run{Service: s, v: v, log: s.log}
	change(next)
	if _, err := next.openSecrets(own); err != nil { // while the runtime still serves
		return err
	}
	failed := s.startAgain(own, next)
	if failed == nil || own.Err() != nil {
		return failed
	}
	log := s.log.With("project", ref.Project, "version", ref.Version)
	shown := forUsers(forUsers(failed, next.hidden()), v.Env)
	log.WarnContext(ctx, "start with new variables or secrets failed; starting with the recorded ones", "error", shown)
	if err := s.deps.Runtimes.StopVersion(own, ref); err != nil {
		return err
	}
	if err := s.startReady(own, v); err != nil {
		log.ErrorContext(ctx, "start with the recorded variables and secrets failed; the runtime keeps restarting", "error", redact(err.Error(), v.Env))
	}
	return shown
}

// startAgain stops the runtime of a version and starts it as r says.
func (s *Service) startAgain(ctx context.Context, r *run) error {
	if err := s.deps.Runtimes.StopVersion(ctx, r.v.Ref); err != nil {
		return err
	}
	endpoint, err := r.start(ctx)
	if err != nil {
		return err
	}
	s.routes.started(r.v.Ref, &endpoint)
	return nil
}

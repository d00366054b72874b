package lifecycle

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// TrySecrets restarts a version that serves with secrets that are not recorded yet, as SetEnv does with
// variables. If it does not start, it runs with the recorded ones again. For a version that does not
// serve it does nothing. Errors: those of the start; Conflict, promote_in_progress.
func (s *Service) TrySecrets(ctx context.Context, ref svc.Ref, secrets map[string]string) error {
	return s.restartServing(ctx, ref, func(own context.Context, v svc.Version) error {
		s.logger(ref).InfoContext(own, "restarting with changed secrets", "secrets", len(secrets))
		return s.deps.Runtimes.RestartWithSecrets(own, v.Ref, secrets)
	})
}

// RefreshSecrets restarts a version whose process began with other secrets than it would begin with now,
// and reports whether it did. It waits for a deploy or a start of the version. Errors: as TrySecrets.
func (s *Service) RefreshSecrets(ctx context.Context, ref svc.Ref) (restarted bool, err error) {
	differ, err := s.deps.Runtimes.SecretsDiffer(ctx, ref)
	if err != nil || !differ {
		return false, err
	}
	err = s.restartServing(ctx, ref, func(own context.Context, v svc.Version) error {
		if differ, err = s.deps.Runtimes.SecretsDiffer(own, ref); err != nil || !differ { // another verb was first
			return err
		}
		restarted = true
		s.logger(ref).InfoContext(own, "restarting with the recorded secrets")
		return s.deps.Runtimes.Restart(own, v.Ref, v.Env)
	})
	return restarted && err == nil, err
}

// restartServing calls restart while requests of the version wait, after those in flight had
// DefaultEnvDrain.
func (s *Service) restartServing(ctx context.Context, ref svc.Ref, restart func(context.Context, svc.Version) error) error {
	own, end, err := s.begin(ctx, ref)
	if err != nil {
		return err
	}
	defer end()
	v, err := s.deps.Versions.Version(own, ref)
	if err != nil || !v.Status.Serves() {
		return err
	}
	if v.Status == svc.StatusDraining {
		return isDraining(ref)
	}
	defer s.deps.Routes.HoldForRestart(ref)()
	s.drainFor(own, ref, s.deps.EnvDrain)
	return stopping(restart(own, v))
}

package lifecycle

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// Move restarts a version that serves, because its machine stops: the driver of runtimes gives it
// another one. New requests wait, and requests in flight get DefaultEnvDrain. For a version that
// does not serve it does nothing. Errors: those of the start; Conflict, promote_in_progress.
func (s *Service) Move(ctx context.Context, ref svc.Ref) error {
	own, end, err := s.begin(ctx, ref)
	if err != nil {
		return err
	}
	defer end()
	v, err := s.deps.Versions.Version(own, ref)
	if err != nil || !v.Status.Serves() {
		return err
	}
	defer s.deps.Routes.HoldForRestart(ref)()
	s.drainFor(own, ref, s.deps.EnvDrain)
	if err := s.deps.Runtimes.Restart(own, ref, v.Env); err != nil {
		return stopping(err)
	}
	s.logger(ref).InfoContext(own, "moved to another machine")
	return nil
}

package lifecycle

import (
	"context"

	"github.com/svcctl/svcctl/internal/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// errGivenUp is why a wake ended that a destroy stood behind.
var errGivenUp = svc.Errorf(svc.Gone, "version_destroyed", "the version is being destroyed")

// Destroy removes a version for good: a deploy or a wake under way is ended, the
// process stops, and then its data, logs and bundle go. It returns the
// tombstone, also when the version was destroyed before. What cannot be removed
// now is removed later; children keep the data that they branched.
//
// Errors: Conflict, version_is_production or promote_in_progress; NotFound.
// spec: DELETE; [D22].
func (s *Service) Destroy(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	v, err := s.deps.Versions.Version(ctx, ref)
	if err == nil {
		err = destroyable(v)
	}
	if err != nil {
		return svc.Version{}, err
	}
	if err := s.endWake(ctx, ref, errGivenUp); err != nil {
		return svc.Version{}, err
	}
	s.endSeal(ref)
	ctx, end, err := s.begin(ctx, ref)
	if err != nil {
		return svc.Version{}, err
	}
	defer end()
	if v, err = s.deps.Versions.Version(ctx, ref); err != nil {
		return svc.Version{}, err
	}
	if v.Status != svc.StatusDestroyed {
		if err := s.bury(ctx, v); err != nil {
			return svc.Version{}, err
		}
	}
	s.purge(ctx, ref)
	return s.deps.Versions.Version(ctx, ref)
}

// destroyable refuses a version that somebody needs.
func destroyable(v svc.Version) error {
	switch {
	case v.Production:
		return isProduction(v.Ref, "destroyed")
	case v.Status == svc.StatusDraining:
		return isDraining(v.Ref)
	}
	return nil
}

// bury is the move that decides: from now on the id is used up, and a deploy
// under way has lost the version.
func (s *Service) bury(ctx context.Context, v svc.Version) error {
	if err := destroyable(v); err != nil {
		return err
	}
	failpoint.Hit("lifecycle/destroy/started")
	detail := ""
	if v.Status.InDeploy() {
		detail = "the version was destroyed"
	}
	if _, err := s.deps.Versions.Move(ctx, v.Ref, svc.TriggerDestroy, svc.Change{Detail: detail}); err != nil {
		return err
	}
	failpoint.Hit("lifecycle/destroy/moved")
	s.deps.Routes.StatusChanged(v.Ref, svc.StatusDestroyed)
	s.logger(v.Ref).InfoContext(ctx, "version is destroyed", "was", string(v.Status))
	return nil
}

// purge stops what still runs of a destroyed version and removes what it left.
// What fails, or is not done in time, is logged and tried again by Sweep, every
// few minutes and at the next start.
func (s *Service) purge(ctx context.Context, ref svc.Ref) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.deps.PurgeLimit, errPurgeLimit)
	defer cancel()
	if err := s.remove(ctx, ref); err != nil {
		s.logger(ref).WarnContext(ctx, "a destroyed version is not removed yet", "error", err)
	}
}

func (s *Service) remove(ctx context.Context, ref svc.Ref) error {
	if err := s.deps.Runtimes.Stop(ctx, ref); err != nil {
		return err
	}
	failpoint.Hit("lifecycle/destroy/stopped")
	s.deps.Routes.Forget(ref)
	if err := s.deps.Vault.Destroy(ctx, ref); err != nil {
		return err
	}
	failpoint.Hit("lifecycle/destroy/emptied")
	if err := s.deps.Runtimes.Purge(ctx, ref); err != nil {
		return err
	}
	failpoint.Hit("lifecycle/destroy/removed")
	return s.deps.Inventory.MarkPurged(ctx, ref)
}

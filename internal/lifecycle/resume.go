package lifecycle

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/internal/svc"
)

// Resume goes on with what the daemon before this one did not finish: wakes,
// the sealing of archived versions, the removal of destroyed ones. Call it once
// at the start, after the routes are known. It returns when all but the wakes
// is done, which go on by themselves.
func (s *Service) Resume(ctx context.Context) error {
	cut, err := s.deps.Inventory.VersionsByStatus(ctx, svc.StatusDeploying, svc.StatusArchived)
	if err != nil {
		return fmt.Errorf("looking for archived versions: %w", err)
	}
	for _, v := range cut {
		if !isWaking(v) {
			continue
		}
		s.logger(v.Ref).InfoContext(ctx, "wake goes on after a restart")
		if _, err := s.beginWake(ctx, v.Ref); err != nil {
			return err
		}
	}
	for _, v := range cut {
		if v.Status == svc.StatusArchived {
			s.inTurn(ctx, v.Ref, s.sealAgain)
		}
	}
	return s.Sweep(ctx)
}

// sealAgain seals a version that is still archived.
func (s *Service) sealAgain(ctx context.Context, ref svc.Ref) {
	v, err := s.deps.Versions.Version(ctx, ref)
	if err == nil && v.Status == svc.StatusArchived {
		err = s.seal(ctx, ref)
	}
	if err != nil && ctx.Err() == nil {
		s.logger(ref).ErrorContext(ctx, "an archived version's data is not sealed", "error", err)
	}
}

// Sweep removes what is left of destroyed versions. Call it now and then: an
// object store that was away when a version was destroyed is back some time.
func (s *Service) Sweep(ctx context.Context) error {
	left, err := s.deps.Inventory.Unpurged(ctx)
	if err != nil {
		return err
	}
	for _, ref := range left {
		s.inTurn(ctx, ref, s.purge)
	}
	return ctx.Err()
}

// inTurn runs do in the version's turn, unless ctx ends or the service stops
// before.
func (s *Service) inTurn(ctx context.Context, ref svc.Ref, do func(context.Context, svc.Ref)) {
	own, end, err := s.begin(ctx, ref)
	if err != nil {
		return
	}
	defer end()
	do(own, ref)
}

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
	return s.purgeLeft(ctx)
}

// sealAgain seals a version that is still archived.
func (s *Service) sealAgain(ctx context.Context, ref svc.Ref) {
	v, err := s.deps.Versions.Version(ctx, ref)
	if err == nil && v.Status == svc.StatusArchived {
		err = s.sealUnasked(ctx, ref)
	}
	s.sealed(ctx, ref, err)
}

// Sweep removes what is left of destroyed versions and seals what archived ones
// still have on this machine. Call it now and then: an object store that was away
// when a version was destroyed or archived is back some time.
func (s *Service) Sweep(ctx context.Context) error {
	if err := s.purgeLeft(ctx); err != nil { // first, for a sealing may last
		return err
	}
	return s.sealLeft(ctx)
}

func (s *Service) purgeLeft(ctx context.Context) error {
	left, err := s.deps.Inventory.Unpurged(ctx)
	if err != nil {
		return err
	}
	for _, ref := range left {
		s.inTurn(ctx, ref, s.purge)
	}
	return ctx.Err()
}

// sealLeft waits for no version that a verb is at: it seals by itself, or the next
// Sweep does.
func (s *Service) sealLeft(ctx context.Context) error {
	archived, err := s.deps.Inventory.VersionsByStatus(ctx, svc.StatusArchived)
	if err != nil {
		return fmt.Errorf("looking for archived versions: %w", err)
	}
	for _, v := range archived {
		if s.deps.Vault.Unsealed(v.Ref) && !s.locks.busy(v.Ref) {
			s.inTurn(ctx, v.Ref, s.restAgain)
		}
	}
	return ctx.Err()
}

// restAgain is for what rest could not do: somebody may have done it meanwhile.
func (s *Service) restAgain(ctx context.Context, ref svc.Ref) {
	v, err := s.deps.Versions.Version(ctx, ref)
	if err == nil && (v.Status != svc.StatusArchived || !s.deps.Vault.Unsealed(ref)) {
		return
	}
	if err == nil {
		err = s.deps.Runtimes.Stop(ctx, ref) // nobody else would end its process
	}
	if err == nil {
		err = s.sealUnasked(ctx, ref)
	}
	s.sealed(ctx, ref, err)
}

// sealed notes how a sealing ended that nobody waited for.
func (s *Service) sealed(ctx context.Context, ref svc.Ref, err error) {
	if err != nil && ctx.Err() == nil && !s.waking(ref) {
		s.logger(ref).ErrorContext(ctx, "an archived version's data is not sealed", "error", err)
	}
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

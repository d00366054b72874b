package lifecycle

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/internal/svc"
)

// Resume completes the verbs of the previous process: wakes, archives and purges.
// Call it once at the start, after Announce of package deploy. It does not wait for
// the wakes, which continue in the background.
func (s *Service) Resume(ctx context.Context) error {
	interrupted, err := s.deps.Inventory.VersionsByStatus(ctx, svc.StatusDeploying, svc.StatusArchived)
	if err != nil {
		return fmt.Errorf("listing archived versions: %w", err)
	}
	for _, v := range interrupted {
		if !isWaking(v) {
			continue
		}
		s.logger(v.Ref).InfoContext(ctx, "resuming a wake of the previous process")
		s.startWake(ctx, v.Ref)
	}
	for _, v := range interrupted {
		if v.Status == svc.StatusArchived {
			s.withLock(ctx, v.Ref, s.resumeArchive)
		}
	}
	return s.purgeAll(ctx)
}

// resumeArchive archives the data of a version that is still archived.
func (s *Service) resumeArchive(ctx context.Context, ref svc.Ref) {
	v, err := s.deps.Versions.Version(ctx, ref)
	if err == nil && v.Status == svc.StatusArchived {
		err = s.archiveInBackground(ctx, ref)
	}
	s.logArchive(ctx, ref, err)
}

// Cleanup purges destroyed versions and archives the data of archived versions that
// is still in the local cache. Call it periodically: it completes verbs that an
// outage of the object store interrupted.
func (s *Service) Cleanup(ctx context.Context) error {
	if err := s.purgeAll(ctx); err != nil { // first, because archiving may take long
		return err
	}
	return s.archiveAll(ctx)
}

func (s *Service) purgeAll(ctx context.Context) error {
	left, err := s.deps.Inventory.Unpurged(ctx)
	if err != nil {
		return err
	}
	for _, ref := range left {
		s.withLock(ctx, ref, s.purge)
	}
	return ctx.Err()
}

// archiveAll skips versions with a running verb, which archives the data itself or
// leaves it to the next Cleanup.
func (s *Service) archiveAll(ctx context.Context) error {
	archived, err := s.deps.Inventory.VersionsByStatus(ctx, svc.StatusArchived)
	if err != nil {
		return fmt.Errorf("listing archived versions: %w", err)
	}
	for _, v := range archived {
		if s.deps.Data.Cached(v.Ref) && !s.locks.Busy(v.Ref) {
			s.withLock(ctx, v.Ref, s.retryArchive)
		}
	}
	return ctx.Err()
}

// retryArchive completes a failed finishArchive, unless another call has done so.
func (s *Service) retryArchive(ctx context.Context, ref svc.Ref) {
	v, err := s.deps.Versions.Version(ctx, ref)
	if err == nil && (v.Status != svc.StatusArchived || !s.deps.Data.Cached(ref)) {
		return
	}
	if err == nil {
		err = s.deps.Runtimes.Stop(ctx, ref) // finishArchive may have failed to stop it
	}
	if err == nil {
		err = s.archiveInBackground(ctx, ref)
	}
	s.logArchive(ctx, ref, err)
}

// logArchive logs a failed archive without a waiting caller.
func (s *Service) logArchive(ctx context.Context, ref svc.Ref, err error) {
	if err != nil && ctx.Err() == nil && !s.wakes.Active(ref) {
		s.logger(ref).ErrorContext(ctx, "archiving the data of a version failed; retrying at the next cleanup", "error", err)
	}
}

// withLock runs do with the version's lock, unless ctx ends or the service stops
// first.
func (s *Service) withLock(ctx context.Context, ref svc.Ref, do func(context.Context, svc.Ref)) {
	own, end, err := s.begin(ctx, ref)
	if err != nil {
		return
	}
	defer end()
	do(own, ref)
}

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// ArchiveIdle archives the ready versions that are idle [D24]: not production, without
// a pin, not asked for Idle.After, without work of their own, and not replaced as
// production within Idle.Grace. It returns the errors of all versions that it could not
// archive. spec: [C9.3] [C9.4] [C9.5] [C8.15].
func (s *Service) ArchiveIdle(ctx context.Context) error {
	if s.deps.Idle.After <= 0 {
		return nil
	}
	ready, err := s.deps.Inventory.VersionsByStatus(ctx, svc.StatusReady)
	if err != nil {
		return fmt.Errorf("listing ready versions: %w", err)
	}
	var errs []error
	for _, v := range ready {
		if ctx.Err() != nil {
			break
		}
		if !s.unused(v) {
			continue
		}
		if err := s.archiveIdle(ctx, v.Ref); err != nil {
			errs = append(errs, fmt.Errorf("archiving the idle version %s: %w", v.Ref, err))
		}
	}
	return errors.Join(errs...)
}

// archiveIdle archives a version if it is idle when it has the version's lock.
func (s *Service) archiveIdle(ctx context.Context, ref svc.Ref) error {
	if s.locks.Busy(ref) {
		return nil // an operation runs, which is use
	}
	ctx, end, err := s.begin(ctx, ref)
	if err != nil {
		return err
	}
	defer end()
	v, err := s.deps.Versions.Version(ctx, ref)
	if err != nil || v.Status != svc.StatusReady || !s.unused(v) {
		return err
	}
	if idle, err := s.idle(ctx, ref); err != nil || !idle {
		return err
	}
	_, err = s.enterArchive(ctx, ref, svc.Change{Unpinned: true})
	if errors.Is(err, svc.Conflict) {
		return nil // promoted or pinned meanwhile
	}
	if err != nil {
		return err
	}
	return s.finishArchive(ctx, ref)
}

// unused reports whether a version may be archived as far as its record and the gateway
// say.
func (s *Service) unused(v svc.Version) bool {
	last := slices.MaxFunc([]time.Time{v.ReadyAt, v.WokenAt, v.LastRequestAt, s.deps.Usage.LastUse(v.Ref)}, time.Time.Compare)
	return !v.Production && !v.Pinned && time.Since(last) >= s.deps.Idle.After
}

// idle reports whether a version has no work of its own and is past the grace. Work
// that is due later counts: nothing wakes an archived version for it. A runtime that
// does not serve cannot be asked, so its version stays ready.
func (s *Service) idle(ctx context.Context, ref svc.Ref) (bool, error) {
	demoted, err := s.deps.Versions.Demoted(ctx, ref)
	if err != nil || time.Since(demoted) < s.deps.Idle.Grace {
		return false, err
	}
	work, err := s.deps.Usage.NextWake(ctx, ref)
	if errors.Is(err, svc.Unavailable) || errors.Is(err, svc.Conflict) {
		return false, nil
	}
	return err == nil && work.Pending == 0 && work.At.IsZero(), err
}

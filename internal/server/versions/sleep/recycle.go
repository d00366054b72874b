package sleep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// recycleAfter is the time without use after which a version may get new processes. It bounds
// how often a version that many ask gets some, and what a worker loses that keeps values
// in its memory.
const recycleAfter = time.Minute

// RecycleIdle gives new processes to versions that use more memory than RecycleBytes and are
// idle: not asked for a minute, without an open websocket, without work of their own under way
// or due soon, and with everything in the object store. A request that comes meanwhile waits
// for the new processes. It returns the errors of all versions that failed.
func (s *Service) RecycleIdle(ctx context.Context) error {
	var errs []error
	for _, r := range s.cfg.Hosts.Measured() {
		if r.State != svc.RuntimeServing || r.RSSBytes <= s.cfg.RecycleBytes || r.Behind > 0 || r.DataError != "" || s.isUsed(r, recycleAfter) || ctx.Err() != nil {
			continue
		}
		if err := s.recycle(ctx, r); err != nil {
			errs = append(errs, fmt.Errorf("recycling the idle version %s: %w", r.Ref, err))
		}
	}
	return errors.Join(errs...)
}

// recycle lets a version sleep for a moment.
func (s *Service) recycle(ctx context.Context, r svc.Runtime) error {
	v, err := s.cfg.Versions.Version(ctx, r.Ref)
	if err != nil || v.Status != svc.StatusReady {
		return err
	}
	if free, err := s.isFree(ctx, r, recycleAfter, 0); err != nil || !free {
		return err
	}
	if err := s.cfg.Runtimes.Sleep(ctx, r.Ref); err != nil {
		if errors.Is(err, svc.Unavailable) {
			return nil // it crashed
		}
		return err
	}
	if _, asleep := s.cfg.Runtimes.Asleep(r.Ref); !asleep {
		return nil // it was used meanwhile
	}
	if err := s.Awake(ctx, r.Ref); err != nil {
		return err
	}
	s.cfg.Observer.Recycled()
	s.cfg.Logger.InfoContext(ctx, "version recycled", "project", r.Ref.Project, "version", r.Ref.Version, "memory", r.RSSBytes)
	return nil
}

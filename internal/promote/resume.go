package promote

import (
	"context"
	"fmt"
	"sync"

	"github.com/svcctl/svcctl/internal/svc"
)

// ResumeAll brings every promotion that the last daemon left half done to its
// end [D21], all at once, and returns when each was tried; one that cannot end
// yet goes on in the background. Call it at boot, before the first Promote.
func (s *Service) ResumeAll(ctx context.Context) error {
	ops, err := s.deps.Promotions.RunningPromotions(ctx)
	if err != nil {
		return fmt.Errorf("resuming promotions: %w", err)
	}
	var tried sync.WaitGroup
	for _, op := range ops {
		end, err := s.begin(ctx, op.Project)
		if err != nil {
			tried.Wait()
			return fmt.Errorf("resuming promotion %s: %w", op.ID, err)
		}
		r := s.newRun(op)
		r.log.InfoContext(ctx, "promotion goes on after a restart")
		tried.Go(func() { r.resume(context.WithoutCancel(ctx), end) })
	}
	tried.Wait()
	return s.undrainStray(ctx)
}

// resume tries once and leaves the rest to a goroutine.
func (r *run) resume(ctx context.Context, end func()) {
	if r.attempt(ctx) {
		end()
		return
	}
	go func() {
		defer end()
		r.toEnd(ctx)
	}()
}

// undrainStray makes versions ready that no promotion drains any more.
func (s *Service) undrainStray(ctx context.Context) error {
	draining, err := s.deps.Versions.VersionsByStatus(ctx, svc.StatusDraining)
	if err != nil {
		return fmt.Errorf("looking for draining versions: %w", err)
	}
	for _, v := range draining {
		if s.isRunning(v.Project) {
			continue
		}
		if err := s.move(ctx, v.Ref, svc.TriggerUndrain, svc.StatusReady); err != nil {
			return err
		}
		s.log.WarnContext(ctx, "version was left draining", "project", v.Project, "version", v.Version)
	}
	return nil
}

package promote

import (
	"context"
	"fmt"
	"sync"

	"github.com/svcctl/svcctl/internal/svc"
)

// ResumeAll resumes every promotion that the previous process left unfinished
// [D21], concurrently, and returns after one attempt of each; an attempt that fails
// is retried in the background. Call it at the start, before the first Promote.
func (s *Service) ResumeAll(ctx context.Context) error {
	ops, err := s.deps.Promotions.RunningPromotions(ctx)
	if err != nil {
		return fmt.Errorf("resuming promotions: %w", err)
	}
	var tried sync.WaitGroup
	for _, op := range ops {
		own, end, err := s.begin(ctx, op.Project)
		if err != nil {
			tried.Wait()
			return fmt.Errorf("resuming promotion %s: %w", op.ID, err)
		}
		if op.Kind == svc.KindRelease {
			tried.Go(func() { s.resumeUntilDone(own, op, end) })
			continue
		}
		r := s.newRun(op)
		r.log.InfoContext(ctx, "resuming a promotion of the previous process")
		tried.Go(func() { r.resume(own, end) })
	}
	tried.Wait()
	return s.undrainStray(ctx)
}

// resume makes one attempt; if that fails, a goroutine continues.
func (r *run) resume(ctx context.Context, end func()) {
	if r.attempt(ctx) {
		end()
		return
	}
	go func() {
		defer end()
		r.untilDone(ctx)
	}()
}

// undrainStray makes draining versions ready whose project has no running promotion.
func (s *Service) undrainStray(ctx context.Context) error {
	draining, err := s.deps.Versions.VersionsByStatus(ctx, svc.StatusDraining)
	if err != nil {
		return fmt.Errorf("listing draining versions: %w", err)
	}
	for _, v := range draining {
		if s.isRunning(v.Project) {
			continue
		}
		if err := s.move(ctx, v.Ref, svc.TriggerUndrain, svc.StatusReady); err != nil {
			return err
		}
		s.log.WarnContext(ctx, "draining version without a promotion; set to ready", "project", v.Project, "version", v.Version)
	}
	return nil
}

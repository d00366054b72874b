package gc

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// sizesAge is how long measured sizes are returned again.
const sizesAge = 30 * time.Second

// BranchSizes returns what the objects of a project's versions are for, measured at most
// half a minute ago. Concurrent callers share one measurement. If the limit ends it, the
// result is the last one, or Incomplete without sizes.
//
// Errors: Unavailable, gc_failed.
func (s *Service) BranchSizes(ctx context.Context, project string) (svc.BranchSizes, error) {
	bounded, over, cancel := s.limited(ctx)
	defer cancel()
	locked, unlock, err := s.measuring.Lock(bounded, project)
	if err == nil {
		defer unlock()
		if last := s.measured(project); !last.MeasuredAt.IsZero() && time.Since(last.MeasuredAt) < sizesAge {
			return last, nil
		}
		err = s.measure(locked, project)
	}
	if over() {
		last := s.measured(project)
		last.Incomplete = last.MeasuredAt.IsZero()
		return last, nil
	}
	if err != nil {
		return svc.BranchSizes{}, svc.Errorf(svc.Unavailable, svc.CodeGCFailed, "the objects of project %s could not be counted", project).
			WithHint("read the service's log").Because(err)
	}
	return s.measured(project), nil
}

func (s *Service) measured(project string) svc.BranchSizes {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sizes[project]
}

func (s *Service) measure(ctx context.Context, project string) error {
	report, err := s.deps.Branches.Sweep(ctx, project, branch.SweepOptions{
		DryRun: true, Shares: true, Node: s.deps.Node, History: s.history(ctx, project),
		Registry: func(ctx context.Context) (registered map[string]branch.Registered, err error) {
			_, registered, err = s.registered(ctx, project)
			return registered, err
		},
	})
	if err != nil {
		return err
	}
	sizes := svc.BranchSizes{MeasuredAt: time.Now(), Versions: map[string]svc.BranchSize{}}
	for _, u := range report.Versions {
		sizes.Versions[u.Version.Version] = svc.BranchSize{Own: u.Live, Exclusive: u.Alone, Shared: u.Inherited, Kept: u.Pinned}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sizes[project] = sizes
	return nil
}

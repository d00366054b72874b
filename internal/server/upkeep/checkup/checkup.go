package checkup

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/svcctl/svcctl/internal/svc"
)

// limit is the time limit of all checks together.
const limit = 30 * time.Second

// Check is one check. Run ends when its context does.
type Check struct {
	Name string
	Run  func(context.Context) svc.Finding
}

// Service runs checks. It is safe for concurrent use.
type Service struct {
	checks []Check
	flight singleflight.Group
}

// New returns a Service with the checks in the order of the result.
func New(checks ...Check) *Service { return &Service{checks: checks} }

// Run runs all checks concurrently and returns a finding for each. When ctx ends first, it
// returns the error of ctx; the checks end within their time limit.
func (s *Service) Run(ctx context.Context) ([]svc.Finding, error) {
	result := s.flight.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
		return s.run(ctx), nil
	})
	select {
	case r := <-result:
		list, _ := r.Val.([]svc.Finding)
		return list, r.Err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *Service) run(ctx context.Context) []svc.Finding {
	list := make([]svc.Finding, len(s.checks))
	var running sync.WaitGroup
	for i, c := range s.checks {
		running.Go(func() {
			list[i] = c.Run(ctx)
			list[i].Check = c.Name
		})
	}
	running.Wait()
	return list
}

package promote

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// reservation is a project's only promotion under way. Service.mu guards it.
type reservation struct {
	settling bool          // its outcome is being written
	ended    chan struct{} // closed at its end
}

// begin reserves a project for one promotion and takes its lock. end gives both
// back; Stop waits for it.
func (s *Service) begin(ctx context.Context, project string) (end func(), err error) {
	unreserve, err := s.reserve(ctx, project)
	if err != nil {
		return nil, err
	}
	unlock, err := s.locks.acquire(ctx, project)
	if err != nil {
		unreserve()
		return nil, err
	}
	return func() { unlock(); unreserve() }, nil
}

// reserve refuses a project that has a promotion under way. One whose outcome
// is being written is waited for: whoever has read that it is done may promote.
func (s *Service) reserve(ctx context.Context, project string) (unreserve func(), err error) {
	for {
		unreserve, other, err := s.tryReserve(project)
		if other == nil {
			return unreserve, err
		}
		select {
		case <-other.ended:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryReserve gives the other one when it is about to end.
func (s *Service) tryReserve(project string) (unreserve func(), other *reservation, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	other = s.running[project]
	switch {
	case s.stopped:
		return nil, nil, svc.Errorf(svc.Unavailable, "shutting_down", "the daemon is stopping").WithHint("try again in a moment")
	case other != nil && other.settling:
		return nil, other, nil
	case other != nil:
		return nil, nil, svc.Errorf(svc.Conflict, "promote_in_progress", "a promotion of project %q is under way", project).
			WithHint("wait until it has ended")
	}
	r := &reservation{ended: make(chan struct{})}
	s.running[project] = r
	s.sagas.Add(1)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.running, project)
		close(r.ended)
		s.sagas.Done()
	}, nil, nil
}

// settle notes whether the outcome of a project's promotion is being written.
func (s *Service) settle(project string, settling bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[project].settling = settling
}

func (s *Service) isRunning(project string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[project] != nil
}

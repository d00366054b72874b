package promote

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// reservation is a project's only promotion under way. Service.mu guards it.
type reservation struct {
	settling bool          // its outcome is being written
	settled  chan struct{} // closed when it has ended, or was not written
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
		unreserve, settled, err := s.tryReserve(project)
		if settled == nil {
			return unreserve, err
		}
		select {
		case <-settled:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryReserve gives a channel to wait for when there is one that is about to end.
func (s *Service) tryReserve(project string) (unreserve func(), settled <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	other := s.running[project]
	switch {
	case s.stopped:
		return nil, nil, svc.Errorf(svc.Unavailable, "shutting_down", "the daemon is stopping").WithHint("try again in a moment")
	case other != nil && other.settling:
		return nil, other.settled, nil
	case other != nil:
		return nil, nil, svc.Errorf(svc.Conflict, "promote_in_progress", "a promotion of project %q is under way", project).
			WithHint("wait until it has ended")
	}
	r := &reservation{settled: make(chan struct{})}
	s.running[project] = r
	s.sagas.Add(1)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.running, project)
		close(r.settled)
		s.sagas.Done()
	}, nil, nil
}

// settle notes that the outcome of a project's promotion is being written, or
// that this failed and it goes on.
func (s *Service) settle(project string, settling bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.running[project]
	if r.settling = settling; !settling {
		close(r.settled)
		r.settled = make(chan struct{})
	}
}

func (s *Service) isRunning(project string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[project] != nil
}

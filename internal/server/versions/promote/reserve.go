package promote

import (
	"context"
	"errors"

	"github.com/svcctl/svcctl/internal/lib/service"
	"github.com/svcctl/svcctl/internal/svc"
)

// reservation is the running promotion of a project. Service.mu guards it.
type reservation struct {
	settling bool          // its outcome is being written
	settled  chan struct{} // closed when the promotion has ended, or writing its outcome has failed
}

var errStopping = svc.Errorf(svc.Unavailable, svc.CodeShuttingDown, "the daemon is shutting down").WithHint("try again in a moment")

// begin reserves a project for one promotion and takes its lock. own, the context
// of the promotion, does not end with ctx; Stop cancels it. end releases the lock
// and the reservation.
func (s *Service) begin(ctx context.Context, project string) (own context.Context, end func(), err error) {
	own, done, err := s.work.Begin(ctx)
	if err != nil {
		return nil, nil, errStopping
	}
	waiting, cancel := s.work.Until(ctx)
	defer cancel()
	release, err := s.take(waiting, project)
	if err != nil {
		done()
		return nil, nil, stopping(err)
	}
	return own, func() { release(); done() }, nil
}

// take waits for the reservation and the lock of a project.
func (s *Service) take(waiting context.Context, project string) (release func(), err error) {
	unreserve, err := s.reserve(waiting, project)
	if err != nil {
		return nil, err
	}
	_, unlock, err := s.locks.Lock(waiting, project)
	if err != nil {
		unreserve()
		return nil, err
	}
	return func() { unlock(); unreserve() }, nil
}

// stopping returns errStopping if Stop ended a wait, else err.
func stopping(err error) error {
	if errors.Is(err, service.ErrStopped) {
		return errStopping
	}
	return err
}

// reserve reserves a project, or returns Conflict if it has a running promotion. It
// waits for a promotion whose outcome is being written: a client that has read that
// the promotion is done can start the next.
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

// tryReserve returns the channel settled if another promotion is about to end.
func (s *Service) tryReserve(project string) (unreserve func(), settled <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	other := s.running[project]
	switch {
	case other != nil && other.settling:
		return nil, other.settled, nil
	case other != nil:
		return nil, nil, svc.Errorf(svc.Conflict, svc.CodePromoteInProgress, "a promotion of project %q is under way", project).
			WithHint("wait until it has ended")
	}
	r := &reservation{settled: make(chan struct{})}
	s.running[project] = r
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.running, project)
		close(r.settled)
	}, nil, nil
}

// settle records whether the outcome of a project's promotion is being written:
// false if that failed and the promotion continues.
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

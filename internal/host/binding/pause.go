package binding

import (
	"context"
	"slices"
)

// SetEvents sets whether the version gets events. Those under way run to their end.
func (s *Set) SetEvents(ctx context.Context, on bool) error {
	s.starters.mu.Lock()
	defer s.starters.mu.Unlock()
	s.starters.off = !on
	return s.starters.settle(ctx)
}

func (s *starters) isOff() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.off
}

// Pause has the Starters send no event until Resume. It returns when those under way are over, or
// ctx ends: then with the routes of the Starters whose events still run. interrupt ends those.
func (s *Set) Pause(ctx context.Context, interrupt bool) (running []string) {
	for _, r := range s.starters.pause(ctx) {
		select {
		case <-r.stopped:
			continue
		case <-ctx.Done():
		}
		if !interrupt {
			running = append(running, r.route)
			continue
		}
		r.cancel()
		<-r.stopped
	}
	slices.Sort(running)
	return running
}

// pause begins to stop all, and gives copies of those that stop.
func (s *starters) pause(ctx context.Context) (stopping []runner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = true
	_ = s.settle(ctx) // it starts none
	for _, r := range s.all {
		if r.stopped != nil {
			stopping = append(stopping, *r)
		}
	}
	return stopping
}

// Resume ends Pause.
func (s *Set) Resume(ctx context.Context) error {
	s.starters.mu.Lock()
	defer s.starters.mu.Unlock()
	s.starters.paused = false
	return s.starters.settle(ctx)
}

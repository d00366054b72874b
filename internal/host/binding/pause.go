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

// GetsEvents reports what SetEvents has set.
func (s *Set) GetsEvents() bool { return !s.starters.isOff() }

func (s *starters) isOff() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.off
}

// ending counts the events under way of Starters that stop.
func (s *starters) ending() (n int) {
	s.mu.Lock()
	stopping := slices.DeleteFunc(slices.Clone(s.all), func(r *runner) bool { return r.stopped == nil })
	s.mu.Unlock()
	for _, r := range stopping {
		n += r.Pending()
	}
	return n
}

// Pause has the Starters send no event until Resume. It returns when those under way are over, or
// ctx ends: then with the routes of the Starters whose events still run. interrupt ends those.
func (s *Set) Pause(ctx context.Context, interrupt bool) (running []string) {
	for _, r := range s.starters.suspend(ctx, &s.starters.paused) {
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

// suspend sets a field that stops all, and gives copies of those that stop.
func (s *starters) suspend(ctx context.Context, field *bool) (stopping []runner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*field = true
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
	return s.starters.resume(ctx, &s.starters.paused)
}

// resume ends suspend.
func (s *starters) resume(ctx context.Context, field *bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	*field = false
	return s.settle(ctx)
}

// SetReadOnly sets whether the project of the version is read-only. If it is, no event begins, and
// SetReadOnly returns when those under way are over, or ctx ends.
func (s *Set) SetReadOnly(ctx context.Context, on bool) error {
	if !on {
		return s.starters.resume(ctx, &s.starters.frozen)
	}
	for _, r := range s.starters.suspend(ctx, &s.starters.frozen) {
		select {
		case <-r.stopped:
		case <-ctx.Done(): // their writes fail
		}
	}
	return nil
}

// held counts the Armed Starters that run again when the project is no longer read-only. They do not
// know when their next events are due, so the version must not sleep until then.
func (s *starters) held() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.all {
		if _, asks := r.Starter.(Armed); asks && s.frozen && s.armed {
			n++
		}
	}
	return n
}

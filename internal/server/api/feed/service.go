package feed

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	windowSize = 4096                  // events in memory
	batchSize  = 500                   // events that a follower is given in one call
	gather     = 20 * time.Millisecond // followers are woken at most this often
	retryAfter = time.Second           // after an error of the registry
	pending    = 1024                  // published events that wait for the registry
)

// Store keeps the events: the registry.
type Store interface {
	AddEvents(ctx context.Context, events []svc.FeedEvent) error
	LastEvent(ctx context.Context) (int64, error)
	// EventsAfter returns Gone, cursor_expired, if events after the position are not
	// kept.
	EventsAfter(ctx context.Context, after int64, limit int) ([]svc.FeedEvent, error)
	EventsBefore(ctx context.Context, before int64, limit int) ([]svc.FeedEvent, error)
	// Changed returns a channel that closes when there may be new events.
	Changed() <-chan struct{}
}

// Service is the feed. Make it with New.
type Service struct {
	store  Store
	logger *slog.Logger
	added  chan svc.FeedEvent
	done   sync.WaitGroup
	cancel context.CancelFunc
	closed chan struct{} // by Close

	reading sync.Mutex // one advance at a time

	changing sync.Mutex // guards runtimes, and orders their events
	runtimes map[svc.Ref]svc.Runtime

	mu      sync.Mutex
	window  []svc.FeedEvent // the newest events, without gaps
	last    int64           // id of the newest event
	grown   chan struct{}   // closes when last grows
	dropped int             // published events that found no room
	ended   bool
}

// New makes a Service that is not started.
func New(store Store, logger *slog.Logger) *Service {
	return &Service{
		store: store, logger: logger, added: make(chan svc.FeedEvent, pending),
		closed: make(chan struct{}), grown: make(chan struct{}), cancel: func() {}, runtimes: map[svc.Ref]svc.Runtime{},
	}
}

// Start begins at the newest event and reads and writes events until Stop. The error is
// the registry's.
func (s *Service) Start(ctx context.Context) error {
	last, err := s.store.LastEvent(ctx)
	if err != nil {
		return err
	}
	s.last = last
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.done.Go(func() { s.tail(ctx) })
	s.done.Go(func() { s.write(ctx) })
	return nil
}

// Close ends all followers and waiting reads: the API waits for them when it stops.
func (s *Service) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		close(s.closed)
	}
}

// Stop ends the followers, writes the events that were published, and waits.
func (s *Service) Stop(context.Context) error {
	s.Close()
	s.cancel()
	s.done.Wait()
	return nil
}

// tail reads the events of each change of the registry once.
func (s *Service) tail(ctx context.Context) {
	for {
		changed := s.store.Changed()
		wait := gather
		if err := s.advance(ctx); err != nil && ctx.Err() == nil {
			s.logger.WarnContext(ctx, "reading new events failed; retrying", "error", err, "retry_in", retryAfter)
			wait = retryAfter
		}
		if backoff.Sleep(ctx, wait) != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// advance adds what the registry has after the window to it.
func (s *Service) advance(ctx context.Context) error {
	s.reading.Lock()
	defer s.reading.Unlock()
	for {
		s.mu.Lock()
		after := s.last
		s.mu.Unlock()
		events, err := s.store.EventsAfter(ctx, after, batchSize)
		switch {
		case errors.Is(err, svc.Gone): // more came than the registry keeps
			err = s.restart(ctx)
			if err != nil {
				return err
			}
		case err != nil || len(events) == 0:
			return err
		default:
			s.append(events)
		}
	}
}

// restart empties the window and continues at the newest event. Followers find the
// ones between in the registry, or that they are no longer kept.
func (s *Service) restart(ctx context.Context) error {
	last, err := s.store.LastEvent(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.window, s.last = nil, last
		close(s.grown)
		s.grown = make(chan struct{})
	}
	return err
}

func (s *Service) append(events []svc.FeedEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.window = append(s.window, events...)
	if extra := len(s.window) - windowSize; extra > 0 {
		s.window = append(make([]svc.FeedEvent, 0, windowSize+batchSize), s.window[extra:]...)
	}
	s.last = events[len(events)-1].ID
	close(s.grown)
	s.grown = make(chan struct{})
}

package feed

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Publish adds an event of the daemon itself. It does not wait: the event is written
// soon after. If the registry is so slow that 1024 of them wait, the event is dropped
// and counted in the daemon's log. The time of an event without one is now.
func (s *Service) Publish(e svc.FeedEvent) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	select {
	case s.added <- e:
	default:
		s.mu.Lock()
		s.dropped++
		s.mu.Unlock()
	}
}

// write writes published events, those that wait together in one transaction. The end of ctx
// ends it, and does not interrupt a transaction: its events would be lost.
func (s *Service) write(ctx context.Context) {
	whole := context.WithoutCancel(ctx)
	for {
		select {
		case <-ctx.Done():
			s.flush(whole, nil)
			return
		case e := <-s.added:
			s.flush(whole, []svc.FeedEvent{e})
		}
	}
}

// flush writes events and all that wait.
func (s *Service) flush(ctx context.Context, events []svc.FeedEvent) {
	for len(events) < pending {
		select {
		case e := <-s.added:
			events = append(events, e)
			continue
		default:
		}
		break
	}
	s.mu.Lock()
	dropped := s.dropped
	s.dropped = 0
	s.mu.Unlock()
	if dropped > 0 {
		s.logger.WarnContext(ctx, "events of the daemon were dropped", "count", dropped)
	}
	if len(events) == 0 {
		return
	}
	if err := s.store.AddEvents(ctx, events); err != nil {
		s.logger.WarnContext(ctx, "writing events failed", "count", len(events), "error", err)
	}
}

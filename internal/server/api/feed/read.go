package feed

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Read returns the next page of events that q selects. A page without events comes
// after q.Wait, or immediately without it; its cursor has advanced all the same.
//
// Errors: Gone, cursor_expired; BadRequest, invalid_cursor.
func (s *Service) Read(ctx context.Context, q svc.FeedQuery) (svc.FeedPage, error) {
	at, page, err := s.begin(ctx, q)
	if err != nil || len(page) > 0 || q.Wait <= 0 && q.Cursor == "" {
		return svc.FeedPage{Events: page, Cursor: cursor(at)}, err
	}
	timeout := time.NewTimer(q.Wait)
	defer timeout.Stop()
	for {
		events, grown, err := s.next(ctx, &at, q)
		if err != nil || len(events) > 0 {
			return svc.FeedPage{Events: events, Cursor: cursor(at)}, err
		}
		if grown == nil {
			continue // what was read is not selected, and there is more
		}
		select {
		case <-grown:
			continue
		case <-timeout.C:
		case <-ctx.Done():
		case <-s.closed:
		}
		return svc.FeedPage{Cursor: cursor(at)}, nil
	}
}

// Follow passes the events that Read returns to emit, and then each new one, until ctx
// ends, emit fails, or the service stops; its error is that of emit, or of the cursor.
// emit is also called without events, with the cursor, once at the begin and then
// every idle.
func (s *Service) Follow(ctx context.Context, q svc.FeedQuery, idle time.Duration, emit func(svc.FeedPage) error) error {
	at, page, err := s.begin(ctx, q)
	if err != nil {
		return err
	}
	if err := emit(svc.FeedPage{Events: page, Cursor: cursor(at)}); err != nil {
		return err
	}
	beat := time.NewTicker(idle)
	defer beat.Stop()
	for {
		events, grown, err := s.next(ctx, &at, q)
		if err == nil && len(events) > 0 {
			err = emit(svc.FeedPage{Events: events, Cursor: cursor(at)})
		}
		if err != nil {
			return err
		}
		if grown == nil {
			continue
		}
		select {
		case <-grown:
		case <-beat.C:
			if err := emit(svc.FeedPage{Cursor: cursor(at)}); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		case <-s.closed:
			return nil
		}
	}
}

// begin returns the position at which a query begins, and the tail before it.
func (s *Service) begin(ctx context.Context, q svc.FeedQuery) (int64, []svc.FeedEvent, error) {
	if err := s.advance(ctx); err != nil { // what is committed is seen
		return 0, nil, err
	}
	if q.Cursor != "" {
		at, err := strconv.ParseInt(q.Cursor, 10, 64)
		if err != nil || at < 0 {
			return 0, nil, svc.Errorf(svc.BadRequest, svc.CodeInvalidCursor, "%q is not a cursor of events", q.Cursor).
				WithHint("continue with the id of an event, or start again without a cursor")
		}
		return at, nil, nil
	}
	s.mu.Lock()
	at := s.last
	s.mu.Unlock()
	tail, err := s.before(ctx, at+1, q)
	return at, tail, err
}

// before returns the last q.Tail events before a position that q selects, oldest first.
func (s *Service) before(ctx context.Context, at int64, q svc.FeedQuery) (tail []svc.FeedEvent, err error) {
	for len(tail) < q.Tail {
		events, err := s.store.EventsBefore(ctx, at, batchSize)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			at = e.ID
			if q.Selects(e) && len(tail) < q.Tail {
				tail = append(tail, e)
			}
		}
		if len(events) < batchSize {
			break
		}
	}
	slices.Reverse(tail)
	return tail, nil
}

// next returns the selected events of the next batch and moves the position after it.
// grown is nil if there may be more by now, and else closes when there is.
func (s *Service) next(ctx context.Context, at *int64, q svc.FeedQuery) (selected []svc.FeedEvent, grown <-chan struct{}, err error) {
	batch, grown := s.fromWindow(*at)
	if batch == nil {
		if batch, err = s.store.EventsAfter(ctx, *at, batchSize); err != nil {
			return nil, nil, err
		}
	}
	if len(batch) > 0 {
		grown = nil
	}
	for _, e := range batch {
		if q.Limit > 0 && len(selected) == q.Limit {
			break
		}
		if *at = e.ID; q.Selects(e) {
			selected = append(selected, e)
		}
	}
	return selected, grown, nil
}

// fromWindow returns the batch after a position; nil, if the window does not reach back
// to it, and empty at its end.
func (s *Service) fromWindow(at int64) ([]svc.FeedEvent, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.last - int64(len(s.window)) // ids have no gaps
	if at < first || at > s.last {
		return nil, s.grown
	}
	rest := s.window[at-first:]
	return append([]svc.FeedEvent{}, rest[:min(len(rest), batchSize)]...), s.grown
}

func cursor(at int64) string { return strconv.FormatInt(at, 10) }

package daemon

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// inquiryLimit ends a question to the store.
const inquiryLimit = 3 * time.Second

// inquiry asks one thing. Who asks while it is asked gets the same answer: deep
// health is open to anybody, and a directory on a network that has gone holds
// whoever touches it, whatever his context says.
type inquiry struct {
	name string
	ask  func(context.Context) error

	mu     sync.Mutex
	answer *answer // under way, or nil
}

type answer struct {
	done chan struct{} // closed once err is there
	err  error
}

// do returns the answer, or an error when ctx ends before. Both name the inquiry.
func (q *inquiry) do(ctx context.Context) error {
	a := q.begin(ctx)
	select {
	case <-a.done:
	case <-ctx.Done():
		return fmt.Errorf("%s: no answer: %w", q.name, context.Cause(ctx))
	}
	if a.err != nil {
		return fmt.Errorf("%s: %w", q.name, a.err)
	}
	return nil
}

// begin asks, unless that is under way.
func (q *inquiry) begin(ctx context.Context) *answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.answer == nil {
		q.answer = &answer{done: make(chan struct{})}
		go q.run(context.WithoutCancel(ctx), q.answer) // others may wait as well
	}
	return q.answer
}

func (q *inquiry) run(ctx context.Context, a *answer) {
	ctx, cancel := context.WithTimeout(ctx, inquiryLimit)
	defer cancel()
	a.err = q.ask(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.answer = nil
	close(a.done)
}

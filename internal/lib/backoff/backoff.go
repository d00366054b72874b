package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff gives the waits between attempts: each is twice as long as the one before. It is one
// goroutine's.
type Backoff struct {
	First, Max time.Duration // the first wait, and the longest
	Jitter     float64       // the part of each wait that is random, at most 1; 0 for none

	next time.Duration // without Jitter; 0 before the first
}

// Next returns how long to wait now.
func (b *Backoff) Next() time.Duration {
	d := max(b.next, b.First)
	b.next = min(2*d, b.Max)
	if random := time.Duration(b.Jitter * float64(d)); random > 0 {
		return d - rand.N(random) //nolint:gosec // spreading load needs no secret
	}
	return d
}

// Reset begins with First again, after a success.
func (b *Backoff) Reset() { b.next = 0 }

// Sleep waits for Next. It returns nil, or the cause of the end of ctx if that comes first.
func (b *Backoff) Sleep(ctx context.Context) error { return Sleep(ctx, b.Next()) }

// Sleep waits for d. It returns nil, or the cause of the end of ctx if that
// comes first.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

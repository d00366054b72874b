package binding

import (
	"context"
	"time"
)

// AcquireWithin is Acquire with another limit of time.
func (l *Large) AcquireWithin(ctx context.Context, limit time.Duration) error {
	return l.acquire(ctx, limit)
}

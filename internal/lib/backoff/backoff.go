package backoff

import (
	"context"
	"time"
)

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

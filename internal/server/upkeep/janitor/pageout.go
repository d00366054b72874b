package janitor

import (
	"context"
	"time"
)

// Pager moves the memory of idle versions to swap: sleep.Service.
type Pager interface {
	PageOutIdle(ctx context.Context) error
}

// PageOut returns the task that moves the memory of versions to swap that are idle for after.
// Its interval is that of idle archiving.
func PageOut(p Pager, after time.Duration) Task {
	return Task{Name: "page out", Every: min(max(after/10, leastIdleEvery), mostIdleEvery), RunOnce: p.PageOutIdle}
}

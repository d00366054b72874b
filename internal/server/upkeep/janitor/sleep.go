package janitor

import (
	"context"
	"time"
)

// Sleeper stops the runtimes of idle versions: sleep.Service.
type Sleeper interface {
	SleepIdle(ctx context.Context) error
}

// Sleep returns the task that stops the runtimes of versions that are idle for after. Its
// interval is that of idle archiving.
func Sleep(s Sleeper, after time.Duration) Task {
	return Task{Name: "sleep", Every: min(max(after/10, leastIdleEvery), mostIdleEvery), RunOnce: s.SleepIdle}
}

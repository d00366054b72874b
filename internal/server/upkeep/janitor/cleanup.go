package janitor

import (
	"context"
	"time"
)

const cleanupEvery = 10 * time.Minute

// Finisher completes archives and purges: lifecycle.Service.
type Finisher interface {
	Cleanup(ctx context.Context) error
}

// Cleanup returns the task that purges destroyed versions [D22] and archives the data
// of archived versions, if an outage of the object store prevented it before.
func Cleanup(f Finisher) Task {
	return Task{Name: "cleanup", Every: cleanupEvery, RunOnce: f.Cleanup}
}

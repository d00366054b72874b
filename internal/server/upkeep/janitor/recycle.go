package janitor

import (
	"context"
	"time"
)

// recycleEvery is the time between two looks for idle versions with much memory.
const recycleEvery = time.Minute

// Recycler gives new processes to idle versions with much memory: sleep.Service.
type Recycler interface {
	RecycleIdle(ctx context.Context) error
}

// Recycle returns the task that gives new processes to idle versions with much memory.
func Recycle(r Recycler) Task {
	return Task{Name: "recycle", Every: recycleEvery, RunOnce: r.RecycleIdle}
}

package janitor

import (
	"context"
	"time"
)

// firstSweep is the approximate time from the start of the daemon to the first sweep.
const firstSweep = time.Minute

// Collector is garbage collection: gc.Service.
type Collector interface {
	CollectAll(ctx context.Context) error
	AuditAll(ctx context.Context) error
}

// Sweep returns the task that collects garbage in all projects. every is SVC_GC_EVERY.
func Sweep(c Collector, every time.Duration) Task {
	return Task{Name: "sweep", Every: every, First: min(firstSweep, every), RunOnce: c.CollectAll}
}

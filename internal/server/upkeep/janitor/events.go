package janitor

import (
	"context"
	"time"
)

const (
	eventsEvery = time.Minute
	eventsAge   = time.Hour
	eventsKept  = 500_000
)

// EventStore has the events that clients follow: the registry.
type EventStore interface {
	TrimEvents(ctx context.Context, before time.Time, keep int) error
}

// Events returns the task that deletes events older than an hour, and all but the
// newest 500,000.
func Events(s EventStore) Task {
	return Task{Name: "events", Every: eventsEvery, RunOnce: func(ctx context.Context) error {
		return s.TrimEvents(ctx, time.Now().Add(-eventsAge), eventsKept)
	}}
}

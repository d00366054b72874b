package janitor

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const healthEvery = 15 * time.Second

// HealthSource checks the health of the server.
type HealthSource interface {
	// Health returns ok, degraded or unavailable, and why it is not ok.
	Health(ctx context.Context) (status, detail string)
}

// Health returns the task that publishes an event when the health of the server changes.
// It takes the server to be ok at first.
func Health(h HealthSource, publish func(svc.FeedEvent)) Task {
	last := "ok"
	return Task{Name: "health", Every: healthEvery, RunOnce: func(ctx context.Context) error {
		now, why := h.Health(ctx)
		if now != last && ctx.Err() == nil {
			publish(svc.FeedEvent{Type: svc.FeedHealth, Data: svc.FeedData{Status: now, Previous: last, Detail: why}})
			last = now
		}
		return nil
	}}
}

package janitor

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const requestsEvery = time.Minute

// Gateway returns the times of the last requests: gateway.Gateway.
type Gateway interface {
	LastRequests() map[svc.Ref]time.Time
}

// Toucher writes the times: registry.DB.
type Toucher interface {
	TouchRequests(ctx context.Context, at map[svc.Ref]time.Time) error
}

// Requests returns the task that writes the last_request_at of versions.
func Requests(from Gateway, to Toucher) Task {
	return Task{Name: "request times", Every: requestsEvery, RunOnce: func(ctx context.Context) error {
		return to.TouchRequests(ctx, from.LastRequests())
	}}
}

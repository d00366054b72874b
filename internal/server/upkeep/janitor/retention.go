package janitor

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const retentionEvery = 10 * time.Minute

// Retainer destroys what is not kept: retention.Service.
type Retainer interface {
	Sweep(ctx context.Context) ([]svc.BulkResult, error)
}

// Retention returns the task that destroys the versions that SVC_KEEP_FAILED and
// SVC_KEEP_ARCHIVED do not keep, and what is left of deleted projects.
func Retention(r Retainer) Task {
	return Task{Name: "retention", Every: retentionEvery, RunOnce: func(ctx context.Context) error {
		_, err := r.Sweep(ctx)
		return err
	}}
}

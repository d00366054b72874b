package jobs

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Job is the deploy of one version, as claimed from the queue.
type Job struct {
	ID      int64
	Ref     svc.Ref
	Attempt int // 1 for the first; counts claims, also those that a crash ended

	// Aside runs wait while somebody else takes this job's turn: what only
	// waits must not keep the queue. Nil outside a Worker.
	Aside func(wait func() error) error
}

// Store is the persistent queue. Only the owner of a job's lease may extend,
// finish or release it; for anyone else, and after the lease was taken over,
// those calls return an error that is svc.Precondition.
type Store interface {
	// ClaimJob leases the oldest job that is due to owner. ok is false when
	// there is none.
	ClaimJob(ctx context.Context, owner string, lease time.Duration) (job Job, ok bool, err error)
	// ExtendJob makes the lease end lease from now.
	ExtendJob(ctx context.Context, id int64, owner string, lease time.Duration) error
	// FinishJob removes the job.
	FinishJob(ctx context.Context, id int64, owner string) error
	// ReleaseJob puts the job back, to be claimed at the time at. A zero at
	// means at once, and that the attempt does not count.
	ReleaseJob(ctx context.Context, id int64, owner string, at time.Time) error
	// RescueJobs ends every lease and says how many there were: at boot they
	// belong to a daemon that is gone. The attempts they began count.
	RescueJobs(ctx context.Context) (n int, err error)
}

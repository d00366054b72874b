package deployqueue

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Job is a claimed deploy of one version.
type Job struct {
	ID      int64
	Ref     svc.Ref
	Attempt int // 1 for the first; counts claims, including those that a crash ended
}

// Store is the persistent queue. Only the owner of a job's lease may extend,
// finish or put it back; for other owners, and after another owner has claimed the
// job, those calls return an error that is svc.Precondition.
type Store interface {
	// ClaimJob leases to owner the job that is due for the longest time. ok is false if none is due.
	ClaimJob(ctx context.Context, owner string, lease time.Duration) (job Job, ok bool, err error)
	// NextJob returns when the next job is due, or its lease ends; zero without jobs.
	NextJob(ctx context.Context) (time.Time, error)
	// ExtendJob sets the end of the lease to now plus lease.
	ExtendJob(ctx context.Context, id int64, owner string, lease time.Duration) error
	// FinishJob removes the job.
	FinishJob(ctx context.Context, id int64, owner string) error
	// RetryJob puts the job back, due at the time at.
	RetryJob(ctx context.Context, id int64, owner string, at time.Time) error
	// SnoozeJob is RetryJob for an attempt that does not count.
	SnoozeJob(ctx context.Context, id int64, owner string, at time.Time) error
	// WakeJob makes a job due, unless it is leased or finished.
	WakeJob(ctx context.Context, id int64) error
	// RescueJobs ends every lease, makes every job due and returns the number of
	// changed jobs. At the start of a daemon all leases and waits belong to the
	// previous process. The attempts it began count.
	RescueJobs(ctx context.Context) (n int, err error)
}

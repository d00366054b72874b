package deployqueue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	claimRetry = time.Second           // after an error of the store
	leastWait  = 10 * time.Millisecond // for a job that is due now, which another loop has claimed meanwhile
)

// settleTimeout bounds the call that ends a job, which outlives its context.
const settleTimeout = 10 * time.Second

// errLeaseLost is the cause when a job is canceled because its lease is lost.
var errLeaseLost = errors.New("the lease of the job is lost")

// loop is one of the goroutines that run jobs. Each is a separate owner of leases,
// so two loops of one process cannot hold the same job.
type loop struct {
	*Worker

	owner string
}

// serve runs jobs one after another until Stop. Jobs run in ctx.
func (w loop) serve(ctx context.Context) {
	waiting, cancel := w.tasks.Until(ctx)
	defer cancel()
	for waiting.Err() == nil {
		job, ok, wait := w.claim(ctx)
		if !ok {
			w.idle(waiting, wait)
			continue
		}
		w.Notify() // wake the next loop: more jobs may be due
		w.work(ctx, job)
	}
}

// claim claims a job; without one, it returns how long to wait unless there is a notification.
func (w loop) claim(ctx context.Context) (job Job, ok bool, wait time.Duration) {
	job, ok, err := w.cfg.Store.ClaimJob(ctx, w.owner, w.cfg.Lease)
	if ok && err == nil {
		return job, true, 0
	}
	var next time.Time
	if err == nil {
		next, err = w.cfg.Store.NextJob(ctx)
	}
	switch {
	case err != nil:
		if ctx.Err() == nil {
			w.cfg.Logger.ErrorContext(ctx, "claiming a job failed; retrying", "error", err, "retry_in", claimRetry)
		}
		return Job{}, false, claimRetry
	case next.IsZero():
		return Job{}, false, w.cfg.Poll
	}
	return Job{}, false, min(max(time.Until(next), leastWait), w.cfg.Poll)
}

// idle waits for a notification, a time or the end of ctx.
func (w loop) idle(ctx context.Context, d time.Duration) {
	select {
	case <-w.wake:
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// work runs job under a heartbeat and settles it.
func (w loop) work(ctx context.Context, job Job) {
	jobCtx, cancel := context.WithCancelCause(ctx)
	beat := make(chan struct{})
	go func() {
		defer close(beat)
		w.heartbeat(jobCtx, job, cancel)
	}()
	err := w.run(jobCtx, job)
	cause := context.Cause(jobCtx)
	cancel(nil)
	<-beat
	w.settle(ctx, job, err, cause)
}

// run calls Run and turns a panic into an error, so that one bad bundle does not
// stop the daemon.
func (w loop) run(ctx context.Context, job Job) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return w.cfg.Run(ctx, job)
}

// heartbeat extends the lease until ctx ends. It cancels the job when another owner
// has claimed it, or when the lease has expired because the store failed.
func (w loop) heartbeat(ctx context.Context, job Job, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(w.cfg.Lease / 3)
	defer tick.Stop()
	ends := time.Now().Add(w.cfg.Lease)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		err := w.cfg.Store.ExtendJob(ctx, job.ID, w.owner, w.cfg.Lease)
		switch {
		case err == nil:
			ends = now.Add(w.cfg.Lease)
		case errors.Is(err, svc.Precondition), !time.Now().Before(ends):
			cancel(errLeaseLost)
			return
		case ctx.Err() == nil:
			w.cfg.Logger.WarnContext(ctx, "extending a lease failed; retrying", "job_id", job.ID, "version", job.Ref.String(), "error", err)
		}
	}
}

// settle finishes the job or puts it back. cause is the cause of the end of the
// job's context, nil if it has not ended.
func (w loop) settle(ctx context.Context, job Job, err, cause error) {
	log := w.cfg.Logger.With("job_id", job.ID, "version", job.Ref.String(), "attempt", job.Attempt)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	var settled error
	var snooze *SnoozeError
	switch {
	case errors.Is(cause, errLeaseLost):
		log.WarnContext(ctx, "lease lost; abandoning the job", "error", err)
		return
	case err == nil:
		settled = w.cfg.Store.FinishJob(ctx, job.ID, w.owner)
	case errors.As(err, &snooze):
		settled = w.snooze(ctx, job, snooze)
	case cause != nil: // stopped: the next start resumes it, and this attempt does not count
		settled = w.cfg.Store.SnoozeJob(ctx, job.ID, w.owner, time.Now())
	default:
		delay := Backoff(job.Attempt)
		log.WarnContext(ctx, "job failed; retrying", "error", err, "retry_in", delay)
		settled = w.cfg.Store.RetryJob(ctx, job.ID, w.owner, time.Now().Add(delay))
	}
	if settled != nil {
		log.ErrorContext(ctx, "ending a job failed; it is claimed again when its lease expires", "error", settled)
	}
}

package jobs

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// settleTimeout bounds the call that ends a job, which outlives its context.
const settleTimeout = 10 * time.Second

// maxStandIns bounds the jobs that wait aside at once. Beyond it a waiting job
// keeps its turn.
const maxStandIns = 256

// errLeaseLost is the cause of a job's cancellation when another owner has it.
var errLeaseLost = errors.New("the lease of the job is lost")

// loop is one of the goroutines that work the queue off. Each is an owner of
// its own, so that not even two loops of one process can hold the same job.
type loop struct {
	*Worker

	owner  string
	retire <-chan struct{} // ends a stand-in; nil for the others
}

// serve runs one job after the other until Stop or the end of ctx.
func (w loop) serve(ctx context.Context) {
	for w.claims(ctx) {
		job, ok, err := w.cfg.Store.ClaimJob(ctx, w.owner, w.cfg.Lease)
		if err != nil && ctx.Err() == nil {
			w.cfg.Logger.ErrorContext(ctx, "cannot claim a job", "error", err)
		}
		if err != nil || !ok {
			w.idle(ctx)
			continue
		}
		w.Notify() // there may be more: pass the wake-up on to the next loop
		w.work(ctx, job)
	}
}

// claims reports whether the loop may take another job.
func (w loop) claims(ctx context.Context) bool {
	select {
	case <-w.quit:
		return false
	case <-ctx.Done():
		return false
	case <-w.retire:
		w.Notify() // it may have taken a wake-up that is another's now
		return false
	default:
		return true
	}
}

// aside runs wait with a stand-in loop at work. When wait returns, the stand-in
// ends the job it has and goes: until then there is one more at work.
func (w loop) aside(ctx context.Context, wait func() error) error {
	n := w.standIns.Add(1)
	defer w.standIns.Add(-1)
	if n > maxStandIns {
		return wait()
	}
	retire := make(chan struct{})
	defer close(retire)
	stand := loop{w.Worker, fmt.Sprintf("%s/stand-in-%d", w.cfg.Owner, w.hired.Add(1)), retire}
	w.loops.Go(func() { stand.serve(ctx) })
	return wait()
}

// idle waits for a notification, the next poll or the end.
func (w loop) idle(ctx context.Context) {
	poll := time.NewTimer(w.cfg.Poll)
	defer poll.Stop()
	select {
	case <-w.wake:
	case <-poll.C:
	case <-w.quit:
	case <-w.retire:
	case <-ctx.Done():
	}
}

// work runs job under a heartbeat and settles it.
func (w loop) work(ctx context.Context, job Job) {
	job.Aside = func(wait func() error) error { return w.aside(ctx, wait) }
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

// run calls Run and turns a panic into an error: one bad bundle must not take
// the gateway down with it.
func (w loop) run(ctx context.Context, job Job) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return w.cfg.Run(ctx, job)
}

// heartbeat extends the lease until ctx ends. It cancels the job when another
// owner has it, or when the lease ran out because the store kept failing.
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
			w.cfg.Logger.WarnContext(ctx, "cannot extend a lease", "job_id", job.ID, "version", job.Ref.String(), "error", err)
		}
	}
}

// settle finishes the job, or puts it back. cause is why its context ended, if
// it did.
func (w loop) settle(ctx context.Context, job Job, err, cause error) {
	log := w.cfg.Logger.With("job_id", job.ID, "version", job.Ref.String(), "attempt", job.Attempt)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	var settled error
	switch {
	case errors.Is(cause, errLeaseLost):
		log.WarnContext(ctx, "job given up: its lease is lost", "error", err)
		return
	case err == nil:
		settled = w.cfg.Store.FinishJob(ctx, job.ID, w.owner)
	case cause != nil: // stopped: the next start goes on, and this attempt does not count
		settled = w.cfg.Store.ReleaseJob(ctx, job.ID, w.owner, time.Time{})
	default:
		delay := Backoff(job.Attempt)
		log.WarnContext(ctx, "job failed, will try again", "error", err, "retry_in", delay)
		settled = w.cfg.Store.ReleaseJob(ctx, job.ID, w.owner, time.Now().Add(delay))
	}
	if settled != nil {
		log.ErrorContext(ctx, "cannot settle a job", "error", settled)
	}
}

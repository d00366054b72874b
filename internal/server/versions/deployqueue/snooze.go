package deployqueue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/lib/service"
)

// SnoozeError is the result of Run for a job that must wait: the job is claimed
// again later and holds no loop until then. The attempt does not count.
type SnoozeError struct {
	Until time.Time // latest time of the next claim
	// Wait returns when the job can be claimed earlier. It runs in its own goroutine;
	// ctx ends at Until or when the worker stops. Nil waits for Until.
	Wait func(ctx context.Context)
}

// Error implements error.
func (e *SnoozeError) Error() string {
	return fmt.Sprintf("the job is snoozed until %s", e.Until.Format(time.RFC3339Nano))
}

// await returns when the job can be claimed or when ctx ends.
func (e *SnoozeError) await(ctx context.Context) {
	ctx, cancel := context.WithDeadline(ctx, e.Until)
	defer cancel()
	if e.Wait == nil {
		<-ctx.Done()
		return
	}
	e.Wait(ctx)
}

// snooze puts a job back and starts its wait. If the worker stops first, the next
// worker makes the job due.
func (w loop) snooze(ctx context.Context, job Job, s *SnoozeError) error {
	if err := w.cfg.Store.SnoozeJob(ctx, job.ID, w.owner, s.Until); err != nil {
		return err
	}
	err := w.tasks.Go(ctx, func(ctx context.Context) {
		waiting, cancel := w.tasks.Until(ctx)
		defer cancel()
		if s.await(waiting); waiting.Err() != nil {
			return
		}
		if err := w.cfg.Store.WakeJob(ctx, job.ID); err != nil {
			w.cfg.Logger.ErrorContext(ctx, "waking a job failed; it is claimed at its latest time", "job_id", job.ID, "version", job.Ref.String(), "until", s.Until, "error", err)
		}
		w.Notify()
	})
	if errors.Is(err, service.ErrStopped) {
		return nil
	}
	return err
}

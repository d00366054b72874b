package cron

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// recordTime is the time limit for recording the end of a run.
	recordTime = 10 * time.Second
	// maxFailure is the length of a recorded failure, in bytes.
	maxFailure = 1000
)

// begin records runs and runs them. Runs that cannot be recorded are skipped, because they
// might begin twice.
func (s *schedules) begin(loop, ctx context.Context, w binding.Worker, runs []run) {
	began, err := s.journal.begin(loop, runs)
	if err != nil {
		if loop.Err() == nil {
			slog.ErrorContext(ctx, "cannot record cron runs; skipping them", "runs", len(runs), "due", runs[0].due, "error", err) //nolint:sloglint // a kind gets no logger
		}
		return
	}
	for _, r := range began {
		s.mark(r.id, true)
		s.work.Go(func() { s.run(ctx, w, r) })
	}
}

// mark records whether a run is under way.
func (s *schedules) mark(id int64, running bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if running {
		s.running[id] = true
	} else {
		delete(s.running, id)
	}
}

// run runs the worker's handler and records the end.
func (s *schedules) run(ctx context.Context, w binding.Worker, r *run) {
	defer s.mark(r.id, false)
	result, err := w.Dispatch(ctx, svc.Event{
		Scheduled: &svc.Scheduled{Cron: r.cron, Time: r.due},
		NoRetry:   func() { s.work.Go(func() { s.forbidRetry(ctx, r.id) }) },
	})
	if err != nil && !errors.Is(err, svc.Unprocessable) { // the version stops, or is disarmed: the worker saw nothing
		s.record(ctx, func(ctx context.Context) error { return s.journal.drop(ctx, r.id) })
		return
	}
	r.ended, r.outcome = s.clock.now(), result.Outcome
	switch {
	case err != nil: // the worker has no handler
		r.outcome, r.failure = svc.OutcomeException, err.Error()
	case result.Error != nil:
		r.failure = strings.TrimPrefix(result.Error.Name+": "+result.Error.Message, ": ")
	}
	if len(r.failure) > maxFailure {
		r.failure = strings.ToValidUTF8(r.failure[:maxFailure], "") + "…"
	}
	s.record(ctx, func(ctx context.Context) error { return s.journal.end(ctx, r) })
}

// record records the end of a run. It tries again while the version is armed.
func (s *schedules) record(ctx context.Context, write func(context.Context) error) {
	for {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
		err := write(limited)
		cancel()
		if err == nil {
			return
		}
		slog.ErrorContext(ctx, "cannot record the end of a cron run", "error", err) //nolint:sloglint // a kind gets no logger
		if backoff.Sleep(ctx, recordTime) != nil {
			return
		}
	}
}

// forbidRetry records that the worker called controller.noRetry().
func (s *schedules) forbidRetry(ctx context.Context, id int64) {
	if err := s.journal.forbidRetry(ctx, id); err != nil {
		slog.WarnContext(ctx, "cannot record that a cron run must not be repeated", "error", err) //nolint:sloglint // a kind gets no logger
	}
}

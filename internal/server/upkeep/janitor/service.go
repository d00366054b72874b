package janitor

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/svcctl/svcctl/internal/lib/service"
)

// Task is one janitor.
type Task struct {
	Name  string        // a noun, for logs and metrics
	Every time.Duration // from the end of a run to the next one
	First time.Duration // until the first run; 0: Every
	Retry time.Duration // after a failed run; 0: Every
	// RunOnce does the work that is due. The end of ctx may interrupt it at any point.
	// It is never called concurrently.
	RunOnce func(ctx context.Context) error
}

// Observer counts, for metrics. Its method does not block.
type Observer interface {
	JanitorDone(name string, failed bool) // one run
}

// Service runs tasks. It is safe for concurrent use.
type Service struct {
	log      *slog.Logger
	observer Observer
	tasks    []Task
	running  service.Stack
}

// New returns a Service, or an error for an invalid task. It starts nothing.
func New(log *slog.Logger, observer Observer, tasks ...Task) (*Service, error) {
	names := map[string]bool{}
	for _, t := range tasks {
		if t.Name == "" || names[t.Name] || t.Every <= 0 || t.RunOnce == nil {
			return nil, fmt.Errorf("janitor %q: unique name, interval and RunOnce required", t.Name)
		}
		names[t.Name] = true
	}
	return &Service{log: log, observer: observer, tasks: tasks}, nil
}

// Start starts the tasks. They have the values of ctx and do not end with it.
func (s *Service) Start(ctx context.Context) {
	for _, t := range s.tasks {
		s.running.Go(ctx, t.Name, func(ctx context.Context) { s.loop(ctx, t) })
	}
}

// Stop cancels running tasks and returns when they have ended.
func (s *Service) Stop(ctx context.Context) error { return s.running.Stop(ctx) }

func (s *Service) loop(ctx context.Context, t Task) {
	wait := time.NewTimer(jitter(cmp.Or(t.First, t.Every)))
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
			wait.Reset(s.run(ctx, t))
		}
	}
}

// run runs a task once and returns the time until the next run.
func (s *Service) run(ctx context.Context, t Task) (next time.Duration) {
	err := t.RunOnce(ctx)
	if ctx.Err() != nil { // interrupted, which is not a failure
		return t.Every
	}
	s.observer.JanitorDone(t.Name, err != nil)
	if err == nil {
		return jitter(t.Every)
	}
	next = jitter(cmp.Or(t.Retry, t.Every))
	s.log.ErrorContext(ctx, "maintenance failed; retrying", "janitor", t.Name, "error", err, "retry_in", next)
	return next
}

// jitter returns d plus or minus a tenth.
func jitter(d time.Duration) time.Duration {
	return d - d/10 + rand.N(d/5+1) //nolint:gosec // not a secret
}

package deployqueue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/lib/service"
)

// The defaults of Config.
const (
	DefaultLease = 30 * time.Second
	DefaultPoll  = time.Minute
)

// Config configures a Worker. Store, Run and Logger are required.
type Config struct {
	Store Store
	// Run runs one job. Its context ends when Stop cancels running jobs or when the
	// lease is lost. A *SnoozeError snoozes the job, another error puts it back, due
	// after Backoff, and nil finishes it, even if the deploy failed.
	Run    func(context.Context, Job) error
	Logger *slog.Logger
	Loops  int           // SVC_ORCH_WORKERS: jobs that run concurrently; 0 = 1
	Owner  string        // name of this process in leases; each loop appends its number; "" = "worker"
	Lease  time.Duration // length of a lease, which is extended every third of it; 0 = DefaultLease
	Poll   time.Duration // longest time that an idle loop does not look for jobs; 0 = DefaultPoll
}

// Worker runs jobs. Create one with New and start it at most once.
type Worker struct {
	cfg     Config
	wake    chan struct{} // holds at most one token
	tasks   service.Work  // the loops and the waits of snoozed jobs
	started atomic.Bool
}

// New returns a Worker, or an error if cfg is incomplete. It starts nothing.
func New(cfg Config) (*Worker, error) {
	if cfg.Store == nil || cfg.Run == nil || cfg.Logger == nil {
		return nil, errors.New("deployqueue: Store, Run and Logger required")
	}
	if cfg.Loops < 0 || cfg.Lease < 0 || cfg.Poll < 0 {
		return nil, errors.New("deployqueue: Loops, Lease and Poll must not be negative")
	}
	cfg.Loops = cmp.Or(cfg.Loops, 1)
	cfg.Owner = cmp.Or(cfg.Owner, "worker")
	cfg.Lease = cmp.Or(cfg.Lease, DefaultLease)
	cfg.Poll = cmp.Or(cfg.Poll, DefaultPoll)
	return &Worker{cfg: cfg, wake: make(chan struct{}, 1)}, nil
}

// Notify wakes an idle loop to claim a job. It never blocks.
func (w *Worker) Notify() {
	select {
	case w.wake <- struct{}{}:
	default: // a token is there already
	}
}

// Start ends the leases of the previous process and starts the loops, which run
// until Stop. ctx bounds only the start.
func (w *Worker) Start(ctx context.Context) error {
	if w.started.Swap(true) {
		return errors.New("deployqueue: the worker was already started")
	}
	n, err := w.cfg.Store.RescueJobs(ctx)
	if err != nil {
		return fmt.Errorf("rescuing jobs: %w", err)
	}
	if n > 0 {
		w.cfg.Logger.InfoContext(ctx, "resumed jobs left by the previous process", "jobs", n)
	}
	for i := range w.cfg.Loops {
		l := loop{Worker: w, owner: fmt.Sprintf("%s/%d", w.cfg.Owner, i)}
		if err := w.tasks.Go(ctx, l.serve); err != nil {
			return fmt.Errorf("deployqueue: %w", err)
		}
	}
	return nil
}

// Stop claims no more jobs and waits for running jobs. When ctx ends, it cancels
// them, waits for them to return, and returns the error of ctx. Snoozed jobs stay
// in the queue. Later calls wait in the same way.
func (w *Worker) Stop(ctx context.Context) error { return w.tasks.Stop(ctx) }

package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// The defaults of Config.
const (
	DefaultLease = 30 * time.Second
	DefaultPoll  = time.Second
)

// Config is what a Worker needs. Store, Run and Logger are required.
type Config struct {
	Store Store
	// Run does one job. Its context ends when the worker is stopped for good
	// or the lease is lost. An error puts the job back after Backoff; nil
	// finishes it, whatever became of the version.
	Run    func(context.Context, Job) error
	Logger *slog.Logger
	Loops  int           // jobs that run at once, SVC_ORCH_WORKERS; 0 = 1
	Owner  string        // names this process in leases, each loop adds its number; "" = "worker"
	Lease  time.Duration // extended three times per length; 0 = DefaultLease
	Poll   time.Duration // how often an idle loop looks without being notified; 0 = DefaultPoll
}

// Worker runs jobs. Make one with New; it serves one Start and one Stop.
type Worker struct {
	cfg  Config
	wake chan struct{} // holds at most one token
	quit chan struct{} // closed by Stop: claim no more
	done chan struct{} // closed when every loop has returned

	loops    sync.WaitGroup
	standIns atomic.Int64 // now
	hired    atomic.Int64 // ever: names them

	mu      sync.Mutex
	started bool
	stopped bool
	kill    context.CancelCauseFunc // ends the running jobs; set by Start
}

// errStopped is the cause of a job's cancellation by Stop.
var errStopped = errors.New("the worker stops")

// New checks cfg and fills in its defaults. It starts nothing.
func New(cfg Config) (*Worker, error) {
	if cfg.Store == nil || cfg.Run == nil || cfg.Logger == nil {
		return nil, errors.New("jobs: Config needs Store, Run and Logger")
	}
	if cfg.Loops < 0 || cfg.Lease < 0 || cfg.Poll < 0 {
		return nil, errors.New("jobs: Loops, Lease and Poll may not be negative")
	}
	cfg.Loops = cmp.Or(cfg.Loops, 1)
	cfg.Owner = cmp.Or(cfg.Owner, "worker")
	cfg.Lease = cmp.Or(cfg.Lease, DefaultLease)
	cfg.Poll = cmp.Or(cfg.Poll, DefaultPoll)
	return &Worker{
		cfg:  cfg,
		wake: make(chan struct{}, 1),
		quit: make(chan struct{}),
		done: make(chan struct{}),
	}, nil
}

// Notify tells an idle loop to look for a job now. It never blocks.
func (w *Worker) Notify() {
	select {
	case w.wake <- struct{}{}:
	default: // a token is there already
	}
}

// Start takes the leases of a dead predecessor away and starts the loops. They
// run until Stop; when ctx ends first, running jobs are cancelled.
func (w *Worker) Start(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started || w.stopped {
		return errors.New("jobs: a worker starts once")
	}
	n, err := w.cfg.Store.RescueJobs(ctx)
	if err != nil {
		return fmt.Errorf("rescuing jobs: %w", err)
	}
	if n > 0 {
		w.cfg.Logger.InfoContext(ctx, "jobs of the daemon before go on", "jobs", n)
	}
	ctx, w.kill = context.WithCancelCause(ctx)
	w.started = true
	for i := range w.cfg.Loops {
		l := loop{Worker: w, owner: fmt.Sprintf("%s/%d", w.cfg.Owner, i)}
		w.loops.Go(func() { l.serve(ctx) })
	}
	go func() {
		w.loops.Wait()
		w.kill(nil)
		close(w.done)
	}()
	return nil
}

// Stop claims no more jobs and waits for the running ones until ctx ends; then
// it cancels them and waits for them to return. It returns ctx's error when it
// had to cancel. Calls after the first wait in the same way.
func (w *Worker) Stop(ctx context.Context) error {
	w.mu.Lock()
	if !w.stopped {
		w.stopped = true
		close(w.quit)
	}
	started := w.started
	w.mu.Unlock()
	if !started {
		return nil
	}
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
	}
	w.kill(errStopped)
	<-w.done
	return ctx.Err()
}

package deployqueue_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/server/versions/deployqueue/deployqueuetest"
	"github.com/svcctl/svcctl/internal/svc"
)

var errBoom = errors.New("boom")

func newWorker(t *testing.T, cfg deployqueue.Config) *deployqueue.Worker {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	w, err := deployqueue.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func start(t *testing.T, w *deployqueue.Worker) {
	t.Helper()
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func stop(t *testing.T, w *deployqueue.Worker) {
	t.Helper()
	if err := w.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNewChecks(t *testing.T) {
	t.Parallel()
	run := func(context.Context, deployqueue.Job) error { return nil }
	log := slog.New(slog.DiscardHandler)
	for name, cfg := range map[string]deployqueue.Config{
		"no store":  {Run: run, Logger: log},
		"no run":    {Store: queue(0), Logger: log},
		"no logger": {Store: queue(0), Run: run},
		"loops":     {Store: queue(0), Run: run, Logger: log, Loops: -1},
		"lease":     {Store: queue(0), Run: run, Logger: log, Lease: -1},
	} {
		if _, err := deployqueue.New(cfg); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// TestLoops: the number of concurrent jobs is the number of loops; every job runs.
// spec: [C7.23]
func TestLoops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(7)
		var mu sync.Mutex
		running, most := 0, 0
		var last time.Time // when a job ended last
		w := newWorker(t, deployqueue.Config{Store: q, Loops: 3, Run: func(context.Context, deployqueue.Job) error {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			<-time.After(time.Minute)
			mu.Lock()
			running--
			last = time.Now()
			mu.Unlock()
			return nil
		}})
		begin := time.Now()
		start(t, w)
		<-time.After(time.Hour)
		// Three, three and one, a minute each; the end of one starts the next.
		if took := last.Sub(begin); q.Len() != 0 || most != 3 || took != 3*time.Minute {
			t.Errorf("up to %d ran concurrently, all in %v", most, took)
		}
		stop(t, w)
	})
}

// TestSnooze: a snoozed job holds no loop, does not count as an attempt, and runs
// again when its wait ends.
func TestSnooze(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(5)
		begin := time.Now()
		type run struct {
			ID      int64
			Attempt int
			At      time.Duration
		}
		var runs []run
		snoozed := map[int64]func(context.Context){
			1: func(context.Context) { <-time.After(90 * time.Second) },
			2: func(ctx context.Context) { <-ctx.Done() },
			3: nil,
		}
		w := newWorker(t, deployqueue.Config{Store: q, Loops: 1, Poll: time.Hour, Run: func(_ context.Context, j deployqueue.Job) error {
			runs = append(runs, run{j.ID, j.Attempt, time.Since(begin)})
			if wait, ok := snoozed[j.ID]; ok {
				delete(snoozed, j.ID)
				return &deployqueue.SnoozeError{Until: begin.Add(10 * time.Minute), Wait: wait}
			}
			<-time.After(time.Minute)
			return nil
		}})
		start(t, w)
		<-time.After(30 * time.Minute)
		stop(t, w)
		want := []run{
			{1, 1, 0},
			{2, 1, 0},
			{3, 1, 0},
			{4, 1, 0},
			{5, 1, time.Minute},
			{1, 1, 2 * time.Minute},
			{2, 1, 10 * time.Minute},
			{3, 1, 11 * time.Minute},
		}
		if d := cmp.Diff(want, runs); d != "" || q.Len() != 0 {
			t.Errorf("%d left, -want +got:\n%s", q.Len(), d)
		}
	})
}

// TestSnoozeBound: eight jobs whose waits end at the same time run one after
// another in one loop.
func TestSnoozeBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 8
		q := queue(n)
		event := make(chan struct{})
		waited := map[int64]bool{}
		running, most, done := 0, 0, 0
		w := newWorker(t, deployqueue.Config{Store: q, Loops: 1, Poll: time.Hour, Run: func(_ context.Context, j deployqueue.Job) error {
			if !waited[j.ID] {
				waited[j.ID] = true
				return &deployqueue.SnoozeError{Until: time.Now().Add(time.Hour), Wait: func(context.Context) { <-event }}
			}
			running++
			most = max(most, running)
			<-time.After(time.Second)
			running--
			done++
			return nil
		}})
		start(t, w)
		synctest.Wait()
		if len(waited) != n {
			t.Fatalf("%d of %d jobs wait", len(waited), n)
		}
		begin := time.Now()
		close(event)
		<-time.After(time.Minute)
		stop(t, w)
		if most != 1 || done != n || q.Len() != 0 {
			t.Errorf("up to %d ran concurrently, %d are done, %d are left after %v", most, done, q.Len(), time.Since(begin))
		}
	})
}

// TestSnoozeStops: a worker stops immediately while jobs are snoozed, and the next
// worker runs them immediately.
func TestSnoozeStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(1)
		begin := time.Now()
		w := newWorker(t, deployqueue.Config{Store: q, Run: func(context.Context, deployqueue.Job) error {
			return &deployqueue.SnoozeError{Until: begin.Add(time.Hour)}
		}})
		start(t, w)
		synctest.Wait()
		stop(t, w)
		ran := make(chan deployqueue.Job, 1)
		next := newWorker(t, deployqueue.Config{Store: q, Run: func(_ context.Context, j deployqueue.Job) error { ran <- j; return nil }})
		start(t, next)
		if j := <-ran; j.Attempt != 1 || time.Since(begin) != 0 {
			t.Errorf("attempt %d after %v", j.Attempt, time.Since(begin))
		}
		stop(t, next)
	})
}

// TestNotify: a notification wakes idle loops before the next poll, as many as there
// are jobs.
func TestNotify(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(0)
		started := make(chan svc.Ref, 2)
		w := newWorker(t, deployqueue.Config{Store: q, Loops: 2, Poll: time.Hour, Run: func(_ context.Context, j deployqueue.Job) error {
			started <- j.Ref
			<-time.After(time.Minute)
			return nil
		}})
		start(t, w)
		synctest.Wait()
		q.Add(deployqueuetest.Ref(1))
		q.Add(deployqueuetest.Ref(2))
		begin := time.Now()
		w.Notify()
		w.Notify()
		got := []svc.Ref{<-started, <-started} // in either order: they run concurrently
		slices.SortFunc(got, func(a, b svc.Ref) int { return strings.Compare(a.Version, b.Version) })
		if d := cmp.Diff([]svc.Ref{deployqueuetest.Ref(1), deployqueuetest.Ref(2)}, got); d != "" || time.Since(begin) != 0 {
			t.Errorf("after %v, -want +got:\n%s", time.Since(begin), d)
		}
		stop(t, w)
	})
}

// TestRetries: a job that fails or panics runs again after Backoff, as the next
// attempt.
func TestRetries(t *testing.T) {
	t.Parallel()
	type try struct {
		Attempt int
		At      time.Duration
	}
	want := []try{{1, 0}, {2, time.Second}, {3, 5 * time.Second}}
	for name, fail := range map[string]func() error{
		"error": func() error { return errBoom },
		"panic": func() error { panic("boom") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := queue(1)
				var tries []try
				begin := time.Now()
				w := newWorker(t, deployqueue.Config{Store: q, Run: func(_ context.Context, j deployqueue.Job) error {
					tries = append(tries, try{j.Attempt, time.Since(begin)})
					if j.Attempt == 3 {
						return nil
					}
					return fail()
				}})
				start(t, w)
				<-time.After(time.Minute)
				stop(t, w)
				if d := cmp.Diff(want, tries); d != "" || q.Len() != 0 {
					t.Errorf("%d left, -want +got:\n%s", q.Len(), d)
				}
			})
		})
	}
}

// TestHeartbeat: a job that runs longer than its lease stays with its loop.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(1)
		runs := 0
		w := newWorker(t, deployqueue.Config{Store: q, Loops: 2, Lease: 3 * time.Second, Run: func(ctx context.Context, _ deployqueue.Job) error {
			runs++
			<-time.After(time.Hour)
			return ctx.Err()
		}})
		start(t, w)
		<-time.After(2 * time.Hour)
		stop(t, w)
		if runs != 1 || q.Len() != 0 {
			t.Errorf("ran %d times, %d left", runs, q.Len())
		}
	})
}

// flaky is a queue whose leases cannot be extended.
type flaky struct {
	*deployqueuetest.Mem

	err error
}

func (f flaky) ExtendJob(context.Context, int64, string, time.Duration) error { return f.err }

// TestLeaseLost: a job whose lease another owner has, or that the store could not
// extend in time, is canceled and neither finished nor put back.
func TestLeaseLost(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  error
		want time.Duration // until the job is canceled
	}{
		{svc.Precondition, time.Second},
		{errBoom, 3 * time.Second},
	} {
		t.Run(tc.err.Error(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := flaky{queue(1), tc.err}
				cancelled := make(chan time.Duration, 1)
				w := newWorker(t, deployqueue.Config{Store: q, Lease: 3 * time.Second, Poll: time.Hour, Run: func(ctx context.Context, _ deployqueue.Job) error {
					begin := time.Now()
					<-ctx.Done()
					cancelled <- time.Since(begin)
					return nil
				}})
				start(t, w)
				if got := <-cancelled; got != tc.want {
					t.Errorf("canceled after %v, want %v", got, tc.want)
				}
				stop(t, w)
				if q.Len() != 1 {
					t.Error("a job of another owner was finished")
				}
			})
		})
	}
}

// TestStopWaits: Stop lets a running job end and starts no other.
func TestStopWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(2)
		w := newWorker(t, deployqueue.Config{Store: q, Run: func(ctx context.Context, _ deployqueue.Job) error {
			<-time.After(time.Minute)
			return ctx.Err()
		}})
		start(t, w)
		synctest.Wait()
		begin := time.Now()
		var wg sync.WaitGroup
		for range 3 { // Stop is idempotent, and every call waits
			wg.Go(func() {
				stop(t, w)
				if took := time.Since(begin); took != time.Minute {
					t.Errorf("stopped after %v", took)
				}
			})
		}
		wg.Wait()
		if q.Len() != 1 {
			t.Errorf("%d jobs left, want 1", q.Len())
		}
	})
}

// TestStopCancels: when its context ends, Stop cancels the job and puts it back
// without counting the attempt.
func TestStopCancels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(1)
		w := newWorker(t, deployqueue.Config{Store: q, Run: func(ctx context.Context, _ deployqueue.Job) error {
			<-ctx.Done()
			return ctx.Err()
		}})
		start(t, w)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		begin := time.Now()
		err := w.Stop(ctx)
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != 10*time.Second {
			t.Errorf("stopped after %v: %v", took, err)
		}
		j, ok, err := q.ClaimJob(t.Context(), "next", time.Minute)
		if !ok || err != nil || j.Attempt != 1 {
			t.Errorf("claimed %v, %+v, %v; want the first attempt", ok, j, err)
		}
	})
}

// TestContextOfStart: the context of Start does not bound the loops.
func TestContextOfStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(1)
		w := newWorker(t, deployqueue.Config{Store: q, Run: func(ctx context.Context, _ deployqueue.Job) error {
			<-time.After(time.Minute)
			return ctx.Err()
		}})
		ctx, cancel := context.WithCancel(t.Context())
		if err := w.Start(ctx); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel()
		stop(t, w)
		if q.Len() != 0 {
			t.Errorf("%d jobs left", q.Len())
		}
	})
}

// TestStartRescues: jobs of the previous process run immediately.
func TestStartRescues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(1)
		if _, ok, err := q.ClaimJob(t.Context(), "previous", time.Hour); !ok || err != nil {
			t.Fatal(ok, err)
		}
		attempt := make(chan int, 1)
		w := newWorker(t, deployqueue.Config{Store: q, Run: func(_ context.Context, j deployqueue.Job) error {
			attempt <- j.Attempt
			return nil
		}})
		begin := time.Now()
		start(t, w)
		if got := <-attempt; got != 2 || time.Since(begin) != 0 {
			t.Errorf("attempt %d after %v", got, time.Since(begin))
		}
		stop(t, w)
	})
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	run := func(context.Context, deployqueue.Job) error { return nil }
	w := newWorker(t, deployqueue.Config{Store: queue(0), Run: run})
	start(t, w)
	if err := w.Start(t.Context()); err == nil {
		t.Error("a worker started twice")
	}
	stop(t, w)
	w = newWorker(t, deployqueue.Config{Store: queue(0), Run: run})
	stop(t, w)
	if err := w.Start(t.Context()); err == nil {
		t.Error("a stopped worker started")
	}
	w = newWorker(t, deployqueue.Config{Store: broken{queue(0)}, Run: run})
	if err := w.Start(t.Context()); !errors.Is(err, errBoom) {
		t.Errorf("err = %v", err)
	}
	stop(t, w)
}

// broken is a queue that cannot be written.
type broken struct{ *deployqueuetest.Mem }

func (broken) RescueJobs(context.Context) (int, error) { return 0, errBoom }

package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/jobs"
	"github.com/svcctl/svcctl/internal/jobs/jobstest"
	"github.com/svcctl/svcctl/internal/svc"
)

var errBoom = errors.New("boom")

func newWorker(t *testing.T, cfg jobs.Config) *jobs.Worker {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	w, err := jobs.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func start(t *testing.T, w *jobs.Worker) {
	t.Helper()
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func stop(t *testing.T, w *jobs.Worker) {
	t.Helper()
	if err := w.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	run := func(context.Context, jobs.Job) error { return nil }
	log := slog.New(slog.DiscardHandler)
	for name, cfg := range map[string]jobs.Config{
		"no store":  {Run: run, Logger: log},
		"no run":    {Store: queue(0), Logger: log},
		"no logger": {Store: queue(0), Run: run},
		"loops":     {Store: queue(0), Run: run, Logger: log, Loops: -1},
		"lease":     {Store: queue(0), Run: run, Logger: log, Lease: -1},
	} {
		if _, err := jobs.New(cfg); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// TestLoops: as many jobs run at once as there are loops, and every job runs.
func TestLoops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(7)
		var mu sync.Mutex
		running, most := 0, 0
		var last time.Time // when a job ended last
		w := newWorker(t, jobs.Config{Store: q, Loops: 3, Run: func(context.Context, jobs.Job) error {
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
		// Three, three and one, a minute each; finishing one starts the next at once.
		if took := last.Sub(begin); q.Len() != 0 || most != 3 || took != 3*time.Minute {
			t.Errorf("at most %d ran at once, all in %v", most, took)
		}
		stop(t, w)
	})
}

// TestAside: a job that only waits keeps nobody from working, and is not kept
// waiting by its stand-in when it goes on.
func TestAside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(5)
		var mu sync.Mutex
		ended := map[int64]time.Duration{}
		begin := time.Now()
		w := newWorker(t, jobs.Config{Store: q, Loops: 1, Run: func(_ context.Context, j jobs.Job) error {
			if j.ID == 1 {
				if err := j.Aside(func() error { <-time.After(90 * time.Second); return nil }); err != nil {
					return err
				}
			}
			<-time.After(time.Minute)
			mu.Lock()
			defer mu.Unlock()
			ended[j.ID] = time.Since(begin)
			return nil
		}})
		start(t, w)
		<-time.After(time.Hour)
		// 1 waits till 1:30 and works till 2:30; its stand-in does 2 and 3; 4 comes after 1.
		want := map[int64]time.Duration{1: 150 * time.Second, 2: time.Minute, 3: 2 * time.Minute, 4: 210 * time.Second, 5: 270 * time.Second}
		mu.Lock()
		defer mu.Unlock()
		if !maps.Equal(ended, want) || q.Len() != 0 {
			t.Errorf("jobs ended at %v, want %v", ended, want)
		}
		stop(t, w)
	})
}

// TestNotify: idle loops start jobs the moment they are told, however long the
// poll is, and one notification wakes as many loops as there are jobs.
func TestNotify(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(0)
		started := make(chan svc.Ref, 2)
		w := newWorker(t, jobs.Config{Store: q, Loops: 2, Poll: time.Hour, Run: func(_ context.Context, j jobs.Job) error {
			started <- j.Ref
			<-time.After(time.Minute)
			return nil
		}})
		start(t, w)
		synctest.Wait()
		q.Add(jobstest.Ref(1))
		q.Add(jobstest.Ref(2))
		begin := time.Now()
		w.Notify()
		w.Notify()
		got := []svc.Ref{<-started, <-started} // in either order: they run at once
		slices.SortFunc(got, func(a, b svc.Ref) int { return strings.Compare(a.Version, b.Version) })
		if d := cmp.Diff([]svc.Ref{jobstest.Ref(1), jobstest.Ref(2)}, got); d != "" || time.Since(begin) != 0 {
			t.Errorf("after %v, -want +got:\n%s", time.Since(begin), d)
		}
		stop(t, w)
	})
}

// TestRetries: a failing and a panicking job come back after Backoff with the
// number of the attempt.
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
				w := newWorker(t, jobs.Config{Store: q, Run: func(_ context.Context, j jobs.Job) error {
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

// TestHeartbeat: a job that runs for many leases stays with its loop.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(1)
		runs := 0
		w := newWorker(t, jobs.Config{Store: q, Loops: 2, Lease: 3 * time.Second, Run: func(ctx context.Context, _ jobs.Job) error {
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
	*jobstest.Mem

	err error
}

func (f flaky) ExtendJob(context.Context, int64, string, time.Duration) error { return f.err }

// TestLeaseLost: a job whose lease another owner has, or that the store could
// not extend in time, is cancelled and left alone.
func TestLeaseLost(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  error
		want time.Duration // until the job is cancelled
	}{
		{svc.Precondition, time.Second},
		{errBoom, 3 * time.Second},
	} {
		t.Run(tc.err.Error(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := flaky{queue(1), tc.err}
				cancelled := make(chan time.Duration, 1)
				w := newWorker(t, jobs.Config{Store: q, Lease: 3 * time.Second, Poll: time.Hour, Run: func(ctx context.Context, _ jobs.Job) error {
					begin := time.Now()
					<-ctx.Done()
					cancelled <- time.Since(begin)
					return nil
				}})
				start(t, w)
				if got := <-cancelled; got != tc.want {
					t.Errorf("cancelled after %v, want %v", got, tc.want)
				}
				stop(t, w)
				if q.Len() != 1 {
					t.Error("a job of another owner was finished")
				}
			})
		})
	}
}

// TestStopWaits: a running job ends in peace, and no other one starts.
func TestStopWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(2)
		w := newWorker(t, jobs.Config{Store: q, Run: func(ctx context.Context, _ jobs.Job) error {
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
		w := newWorker(t, jobs.Config{Store: q, Run: func(ctx context.Context, _ jobs.Job) error {
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

// TestEndOfContext: the context of Start ends everything, like Stop.
func TestEndOfContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(1)
		w := newWorker(t, jobs.Config{Store: q, Run: func(ctx context.Context, _ jobs.Job) error {
			<-ctx.Done()
			return ctx.Err()
		}})
		ctx, cancel := context.WithCancel(t.Context())
		if err := w.Start(ctx); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel()
		stop(t, w)
		if j, ok, _ := q.ClaimJob(t.Context(), "next", time.Minute); !ok || j.Attempt != 1 {
			t.Errorf("claimed %v, %+v; want the first attempt", ok, j)
		}
	})
}

// TestStartRescues: jobs that a dead daemon held run at once.
func TestStartRescues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue(1)
		if _, ok, err := q.ClaimJob(t.Context(), "the dead", time.Hour); !ok || err != nil {
			t.Fatal(ok, err)
		}
		attempt := make(chan int, 1)
		w := newWorker(t, jobs.Config{Store: q, Run: func(_ context.Context, j jobs.Job) error {
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
	run := func(context.Context, jobs.Job) error { return nil }
	w := newWorker(t, jobs.Config{Store: queue(0), Run: run})
	start(t, w)
	if err := w.Start(t.Context()); err == nil {
		t.Error("a worker started twice")
	}
	stop(t, w)
	w = newWorker(t, jobs.Config{Store: queue(0), Run: run})
	stop(t, w)
	if err := w.Start(t.Context()); err == nil {
		t.Error("a stopped worker started")
	}
	w = newWorker(t, jobs.Config{Store: broken{queue(0)}, Run: run})
	if err := w.Start(t.Context()); !errors.Is(err, errBoom) {
		t.Errorf("err = %v", err)
	}
	stop(t, w)
}

// broken is a queue that cannot be written.
type broken struct{ *jobstest.Mem }

func (broken) RescueJobs(context.Context) (int, error) { return 0, errBoom }

package janitor_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/server/upkeep/janitor"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// counted is an Observer that counts runs by "<name>" or "<name> failed".
type counted struct {
	mu   sync.Mutex
	runs map[string]int
}

func (c *counted) JanitorDone(name string, failed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if failed {
		name += " failed"
	}
	c.runs[name]++
}

func (c *counted) expect(t *testing.T, want map[string]int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !maps.Equal(c.runs, want) {
		t.Errorf("the runs are %v, want %v", c.runs, want)
	}
}

// start starts tasks in a bubble. It stops them at the end of the test.
func start(t *testing.T, tasks ...janitor.Task) (*janitor.Service, *counted, *svctest.Buffer) {
	t.Helper()
	seen, log := &counted{runs: map[string]int{}}, new(svctest.Buffer)
	s, err := janitor.New(slog.New(slog.NewTextHandler(log, nil)), seen, tasks...)
	if err != nil {
		t.Fatal(err)
	}
	s.Start(t.Context())
	t.Cleanup(func() { stop(t, s) })
	return s, seen, log
}

func stop(t *testing.T, s *janitor.Service) {
	t.Helper()
	if err := s.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

func task(name string, every time.Duration, run func(ctx context.Context) error) janitor.Task {
	return janitor.Task{Name: name, Every: every, RunOnce: run}
}

// TestIntervals: each task runs at its interval, plus or minus a tenth.
func TestIntervals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		well := func(context.Context) error { return nil }
		early := task("early", time.Hour, well)
		early.First = time.Minute
		s, seen, log := start(t, task("often", 10*time.Minute, well), early)
		time.Sleep(67 * time.Second)
		seen.expect(t, map[string]int{"early": 1})
		time.Sleep(10 * time.Minute)
		seen.expect(t, map[string]int{"early": 1, "often": 1})
		time.Sleep(10 * time.Hour)
		seen.mu.Lock()
		if n := seen.runs["often"]; n < 55 || n > 68 {
			t.Errorf("in ten hours it ran %d times every ten minutes", n)
		}
		if n := seen.runs["early"]; n < 10 || n > 12 {
			t.Errorf("in ten hours it ran %d times every hour", n)
		}
		seen.mu.Unlock()
		stop(t, s)
		seen.mu.Lock()
		before := maps.Clone(seen.runs)
		seen.mu.Unlock()
		time.Sleep(time.Hour)
		seen.expect(t, before)
		if log.String() != "" {
			t.Errorf("it logged %s", log)
		}
	})
}

// TestFailure: a run that fails is logged, counted and repeated.
func TestFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("object store down")
		failing := task("audit", 24*time.Hour, func(context.Context) error { return away })
		failing.First, failing.Retry = time.Minute, 10*time.Minute
		_, seen, log := start(t, failing)
		time.Sleep(67*time.Second + 11*time.Minute)
		seen.expect(t, map[string]int{"audit failed": 2})
		const line = `level=ERROR msg="maintenance failed; retrying" janitor=audit error="object store down" retry_in=`
		if strings.Count(log.String(), line) != 2 {
			t.Errorf("the log is %s", log)
		}
	})
}

// TestConcurrentTasks: a long run does not delay other tasks and does not overlap with
// another run.
func TestConcurrentTasks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int32
		s, seen, log := start(t,
			task("long", time.Minute, func(ctx context.Context) error {
				running.Add(1)
				<-ctx.Done()
				return ctx.Err()
			}),
			task("short", time.Minute, func(context.Context) error { return nil }))
		time.Sleep(time.Hour)
		if n := running.Load(); n != 1 {
			t.Errorf("it started %d times", n)
		}
		began := time.Now()
		stop(t, s)
		if took := time.Since(began); took != 0 {
			t.Errorf("Stop took %s", took)
		}
		seen.mu.Lock()
		defer seen.mu.Unlock()
		if seen.runs["short"] < 50 || seen.runs["long failed"] != 0 || log.String() != "" {
			t.Errorf("the runs are %v, the log is %s", seen.runs, log)
		}
	})
}

func TestNewChecks(t *testing.T) {
	t.Parallel()
	run := func(context.Context) error { return nil }
	for name, tasks := range map[string][]janitor.Task{
		"no name":     {task("", time.Minute, run)},
		"no interval": {task("a", 0, run)},
		"no run":      {task("a", time.Minute, nil)},
		"twice":       {task("a", time.Minute, run), task("a", time.Hour, run)},
	} {
		if _, err := janitor.New(slog.New(slog.DiscardHandler), new(counted), tasks...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// parts is a fake of the services that the tasks call.
type parts struct {
	calls []string
	err   error
}

func (p *parts) call(name string) error { p.calls = append(p.calls, name); return p.err }

func (p *parts) CollectAll(context.Context) error { return p.call("collect") }
func (p *parts) AuditAll(context.Context) error   { return p.call("audit") }
func (p *parts) Cleanup(context.Context) error    { return p.call("cleanup") }
func (p *parts) TrimEvents(context.Context, time.Time, int) error {
	return p.call("events")
}
func (p *parts) Recheck(context.Context) error { return p.call("domains") }
func (p *parts) Tidy(context.Context) error    { return p.call("previews") }

func (p *parts) Sweep(context.Context) ([]svc.BulkResult, error) { return nil, p.call("retention") }

func (p *parts) ArchiveIdle(context.Context) error { return p.call("idle") }

func (p *parts) SleepIdle(context.Context) error { return p.call("sleep") }

func (p *parts) PageOutIdle(context.Context) error { return p.call("page out") }

func (p *parts) RecycleIdle(context.Context) error { return p.call("recycle") }

func (p *parts) LastRequests() map[svc.Ref]time.Time {
	return map[svc.Ref]time.Time{{Project: "shop", Version: "v1"}: time.Unix(7, 0)}
}

func (p *parts) TouchRequests(_ context.Context, at map[svc.Ref]time.Time) error {
	if !maps.Equal(at, p.LastRequests()) {
		return errors.New("other times than those of the gateway")
	}
	return p.call("touch")
}

// TestTasks checks the calls of each task, their first time, and their errors.
func TestTasks(t *testing.T) {
	t.Parallel()
	p := new(parts)
	for want, tc := range map[string]struct {
		task         janitor.Task
		first, every time.Duration
	}{
		"collect":   {janitor.Sweep(p, 10*time.Minute), time.Minute, 10 * time.Minute},
		"audit":     {janitor.Audit(p, 10*time.Minute), 90 * time.Second, 24 * time.Hour},
		"cleanup":   {janitor.Cleanup(p), 0, 10 * time.Minute},
		"previews":  {janitor.Previews(p), 0, 10 * time.Minute},
		"domains":   {janitor.Domains(p), 0, 24 * time.Hour},
		"events":    {janitor.Events(p), 0, time.Minute},
		"idle":      {janitor.Idle(p, 10*time.Minute), 0, time.Minute},
		"sleep":     {janitor.Sleep(p, 10*time.Minute), 0, time.Minute},
		"page out":  {janitor.PageOut(p, 10*time.Minute), 0, time.Minute},
		"recycle":   {janitor.Recycle(p), 0, time.Minute},
		"retention": {janitor.Retention(p), 0, 10 * time.Minute},
		"touch":     {janitor.Requests(p, p), 0, time.Minute},
	} {
		p.calls, p.err = nil, errors.New("it fails")
		if err := tc.task.RunOnce(t.Context()); !errors.Is(err, p.err) || len(p.calls) != 1 || p.calls[0] != want {
			t.Errorf("%s: %v; calls %q", tc.task.Name, err, p.calls)
		}
		if tc.task.First != tc.first || tc.task.Every != tc.every {
			t.Errorf("%s: first after %s, then every %s", tc.task.Name, tc.task.First, tc.task.Every)
		}
	}
	if soon := janitor.Sweep(p, time.Second); soon.First != time.Second {
		t.Errorf("sweeps every second start after %s", soon.First)
	}
	if again := janitor.Audit(p, 10*time.Minute).Retry; again != 10*time.Minute {
		t.Errorf("a failed audit is repeated after %s", again)
	}
}

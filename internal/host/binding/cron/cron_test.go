package cron

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// dial is a clock that a test sets.
type dial struct {
	mu     sync.Mutex
	at     time.Time
	moved  chan struct{} // closed and replaced when the clock is set
	sleeps chan string   // receives what a loop sleeps for
}

func newDial(at string) *dial {
	return &dial{at: instant(at), moved: make(chan struct{}), sleeps: make(chan string, 100)}
}

// instant is a time of 2026-11-22, or of another day of that month: "23 09:00".
func instant(text string) time.Time {
	if !strings.Contains(text, " ") {
		text = "22 " + text
	}
	at, err := time.Parse("2006-01-02 15:04:05", ("2026-11-" + text + ":00")[:19])
	if err != nil {
		panic(err)
	}
	return at
}

func (d *dial) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at
}

func (d *dial) set(at string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = instant(at)
	close(d.moved)
	d.moved = make(chan struct{})
}

// sleep returns whenever the clock is set.
func (d *dial) sleep(ctx context.Context, until time.Time) error {
	d.mu.Lock()
	late, moved := !d.at.Before(until), d.moved
	d.mu.Unlock()
	d.sleeps <- until.Format("02 15:04")
	if late {
		return nil
	}
	select {
	case <-moved:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// handler is a worker. Each run waits for its result.
type handler struct {
	began chan svc.Event
	ends  chan svc.EventResult

	refuse atomic.Bool // it does not serve
}

func newHandler() *handler {
	return &handler{began: make(chan svc.Event, 100), ends: make(chan svc.EventResult, 100)}
}

func (h *handler) Dispatch(ctx context.Context, e svc.Event) (svc.EventResult, error) {
	h.began <- e
	if h.refuse.Load() {
		return svc.EventResult{}, svc.Errorf(svc.Unavailable, svc.CodeNotServing, "the worker does not serve")
	}
	select {
	case r := <-h.ends:
		return r, nil
	case <-ctx.Done():
		return svc.EventResult{Outcome: svc.OutcomeCanceled, Error: &svc.EventError{Message: "the event was canceled"}}, nil
	}
}

// process is one process of a version: its set of bindings.
type process struct {
	*handler

	t     *testing.T
	clock *dial
	set   *binding.Set

	volumes volume.Volumes
}

var sample = []string{"*/10 * * * *", "0 9 * * mon-fri"}

// begin opens a version on a directory, and arms it.
func begin(t *testing.T, dir string, d *dial, crons ...string) *process {
	t.Helper()
	return beginKind(t, dir, Kind{clock: d}, d, crons...)
}

func beginKind(t *testing.T, dir string, k Kind, d *dial, crons ...string) *process {
	t.Helper()
	volumes := bindingtest.OpenVolumes(t, dir)
	set, err := binding.OpenAll(t.Context(), []binding.Kind{k}, &bundle.Manifest{Crons: crons}, volumes)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{newHandler(), t, d, set, volumes}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := set.Start(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	p.arm(true)
	return p
}

func (p *process) arm(armed bool) {
	p.t.Helper()
	if err := p.set.Arm(p.t.Context(), armed); err != nil {
		p.t.Fatal(err)
	}
}

// sleeps waits until the loop sleeps for a time.
func (p *process) sleeps(until string) {
	p.t.Helper()
	if got := svctest.Wait(p.t, "the loop to sleep", p.clock.sleeps); got != until {
		p.t.Fatalf("it sleeps until %s, want %s", got, until)
	}
}

// runs waits for runs that begin now.
func (p *process) runs(want ...string) (events []svc.Event) {
	p.t.Helper()
	var got []string
	for range want {
		e := svctest.Wait(p.t, "a run", p.began)
		got = append(got, e.Scheduled.Cron+" "+e.Scheduled.Time.Format("02 15:04"))
		events = append(events, e)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		p.t.Fatalf("the runs are %q, want %q", got, want)
	}
	return events
}

// end ends n runs.
func (p *process) end(n int, outcome svc.Outcome) {
	for range n {
		p.ends <- svc.EventResult{Outcome: outcome}
	}
}

// idle waits until no run is under way.
func (p *process) idle() {
	p.t.Helper()
	svctest.Eventually(p.t, "the runs to end", func() bool { return p.set.Wake().Pending == 0 })
}

// journal lists the runs, oldest first: cron, due, outcome.
func (p *process) journal() (list []string) {
	p.t.Helper()
	answer := p.get("/crons/runs?limit=1000")
	items, _ := answer["items"].([]any)
	for _, item := range slices.Backward(items) {
		r, _ := item.(map[string]any)
		due, _ := r["scheduled_time"].(string)
		line := fmt.Sprintf("%s %s %s", r["cron"], strings.Replace(due[8:16], "T", " ", 1), r["outcome"])
		if r["retry"] == true {
			line += " (retry)"
		}
		list = append(list, line)
	}
	return list
}

func (p *process) get(path string) map[string]any {
	p.t.Helper()
	w := httptest.NewRecorder()
	p.set.Data(func(_ http.ResponseWriter, _ *http.Request, err error) { p.t.Errorf("%s: %v", path, err) }).
		ServeHTTP(w, httptest.NewRequestWithContext(p.t.Context(), http.MethodGet, path, http.NoBody))
	var answer map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		p.t.Fatal(err)
	}
	return answer
}

func (p *process) recorded(want ...string) {
	p.t.Helper()
	if got := p.journal(); !slices.Equal(got, want) {
		p.t.Errorf("the journal has %q, want %q", got, want)
	}
}

// TestDue: runs begin when they are due, each once, at the same time where several are due.
// spec: [C1.10].
func TestDue(t *testing.T) {
	t.Parallel()
	p := begin(t, t.TempDir(), newDial("23 08:55"), sample...)
	p.sleeps("23 09:00")
	p.clock.set("23 09:00:01")
	p.runs("*/10 * * * * 23 09:00", "0 9 * * mon-fri 23 09:00")
	p.sleeps("23 09:10")
	if w := p.set.Wake(); w.Pending != 2 || !w.At.Equal(instant("23 09:10")) {
		t.Errorf("wakes %+v", w)
	}
	if got := p.journal(); len(got) != 2 || !strings.HasSuffix(got[0], " running") {
		t.Errorf("under way: %q", got)
	}
	p.clock.set("23 09:10:30") // a run does not wait for the one before
	p.runs("*/10 * * * * 23 09:10")
	p.sleeps("23 09:20")
	p.end(3, svc.OutcomeOK)
	p.idle()
	if got := p.journal(); len(got) != 3 || got[2] != "*/10 * * * * 23 09:10 ok" {
		t.Errorf("ended: %q", got)
	}
	answer := p.get("/crons")
	if text := fmt.Sprint(answer); answer["armed"] != true || !strings.Contains(text, "next_runs:[2026-11-23T09:20:00.000Z 2026-11-23T09:30:00.000Z") {
		t.Error(text)
	}
}

// TestMissedRuns: a run that was due while the version was not armed, or while the machine
// slept, is not made up for.
func TestMissedRuns(t *testing.T) {
	t.Parallel()
	p := begin(t, t.TempDir(), newDial("08:55"), "*/10 * * * *")
	p.sleeps("22 09:00")
	p.arm(false)
	svctest.Eventually(t, "the loop to end", func() bool { return p.set.Wake().At.IsZero() })
	p.clock.set("09:10:30")
	p.arm(true)
	p.sleeps("22 09:20")
	p.clock.set("11:04")
	p.sleeps("22 11:10") // the machine slept
	p.clock.set("11:10:59")
	p.runs("*/10 * * * * 22 11:10")
	p.end(1, svc.OutcomeOK)
	p.sleeps("22 11:20")
	p.idle()
	p.recorded("*/10 * * * * 22 11:10 ok")
}

// TestLateStart: a version that slept and serves after its run was due begins the run, once; runs
// that were due a minute ago stay missed.
func TestLateStart(t *testing.T) {
	t.Parallel()
	for missed, want := range map[string][]string{
		"09:00":    {"* * * * * 22 09:00"},
		"07:00":    {"* * * * * 22 09:00"},
		"08:59:30": {"* * * * * 22 09:00"},
		"09:00:01": nil,
		"09:01":    nil,
	} {
		t.Run(missed, func(t *testing.T) {
			t.Parallel()
			d := newDial("09:00:20")
			p := beginKind(t, t.TempDir(), Kind{MissedSince: instant(missed), clock: d}, d, "* * * * *")
			if p.runs(want...); want != nil {
				p.end(1, svc.OutcomeOK)
				p.idle()
			}
			p.arm(false)
			p.arm(true)
			svctest.Eventually(t, "the loop to sleep until the next run", func() bool { return p.set.Wake().At.Equal(instant("09:01")) })
			if got := len(p.journal()); got != len(want) {
				t.Errorf("%d runs, want %d", got, len(want))
			}
		})
	}
}

// TestClock: a clock that is set back repeats no run; one that was wrong by hours before
// does not stop the runs.
func TestClock(t *testing.T) {
	t.Parallel()
	dir, d := t.TempDir(), newDial("08:55")
	p := begin(t, dir, d, "*/10 * * * *")
	p.sleeps("22 09:00")
	d.set("09:00")
	p.runs("*/10 * * * * 22 09:00")
	p.end(1, svc.OutcomeOK)
	p.sleeps("22 09:10")
	d.set("08:57")
	p.sleeps("22 09:10")
	p.idle()
	p.arm(false)
	svctest.Eventually(t, "the loop to end", func() bool { return p.set.Wake().At.IsZero() })
	p.arm(true) // it plans anew, from the clock that is behind
	p.sleeps("22 09:00")
	d.set("09:00:10")
	p.sleeps("22 09:10")
	d.set("09:10")
	p.runs("*/10 * * * * 22 09:10")
	p.end(1, svc.OutcomeOK)
	p.sleeps("22 09:20")
	d.set("21 03:02") // the clock was wrong
	p.sleeps("21 03:10")
	d.set("21 03:10")
	p.runs("*/10 * * * * 21 03:10")
	p.end(1, svc.OutcomeOK)
	p.sleeps("21 03:20")
	p.idle()
	p.recorded("*/10 * * * * 22 09:00 ok", "*/10 * * * * 22 09:10 ok", "*/10 * * * * 21 03:10 ok")
}

// TestDisarmed: a version that is disarmed begins no run; those under way run to their end.
// spec: [C10.2] [C10.3] [C10.4].
func TestDisarmed(t *testing.T) {
	t.Parallel()
	p := begin(t, t.TempDir(), newDial("08:55"), "*/10 * * * *")
	p.sleeps("22 09:00")
	p.clock.set("09:00")
	p.runs("*/10 * * * * 22 09:00")
	p.sleeps("22 09:10")
	p.arm(false)
	p.clock.set("09:10")
	if answer := p.get("/crons"); answer["armed"] != true {
		t.Errorf("while it stops: %v", answer)
	}
	p.end(1, svc.OutcomeOK)
	svctest.Eventually(t, "the loop to end", func() bool { return p.set.Wake().At.IsZero() })
	if answer := p.get("/crons"); answer["armed"] != false || !strings.Contains(fmt.Sprint(answer), "next_runs:[]") {
		t.Errorf("disarmed: %v", answer)
	}
	p.recorded("*/10 * * * * 22 09:00 ok")
}

// TestNeverArmed: a version that is not armed has no journal and runs nothing.
// spec: [C10.3].
func TestNeverArmed(t *testing.T) {
	t.Parallel()
	volumes := counted{Volumes: bindingtest.OpenVolumes(t, t.TempDir())}
	set, err := binding.OpenAll(t.Context(), []binding.Kind{Kind{clock: newDial("08:55")}}, &bundle.Manifest{Crons: sample}, &volumes)
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Start(t.Context(), newHandler()); err != nil {
		t.Fatal(err)
	}
	if w := set.Wake(); !set.CallsWorker() || !w.At.IsZero() || len(set.Wire(binding.Site{})) != 0 {
		t.Errorf("wakes %+v", w)
	}
	if err := set.Close(); err != nil || volumes.opened != 0 {
		t.Errorf("%d databases were opened; %v", volumes.opened, err)
	}
}

// counted counts the databases that are opened.
type counted struct {
	volume.Volumes

	opened int
}

func (c *counted) Database(ctx context.Context, name string) (volume.Database, error) {
	c.opened++
	return c.Volumes.Database(ctx, name)
}

// TestNotSeen: a run that the worker did not see, because it is disarmed at the same
// moment, is no run.
func TestNotSeen(t *testing.T) {
	t.Parallel()
	p := begin(t, t.TempDir(), newDial("08:55"), "*/10 * * * *")
	p.sleeps("22 09:00")
	p.refuse.Store(true)
	p.clock.set("09:00")
	p.sleeps("22 09:10")
	svctest.Wait(t, "the run", p.began)
	svctest.Eventually(t, "the run to be dropped", func() bool { return len(p.journal()) == 0 })
	p.refuse.Store(false)
	p.clock.set("09:10")
	p.runs("*/10 * * * * 22 09:10")
	p.end(1, svc.OutcomeOK)
	p.idle()
	p.recorded("*/10 * * * * 22 09:10 ok")
}

package sleep_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/server/versions/sleep"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

func ref(id string) svc.Ref { return svc.Ref{Project: "shop", Version: id} }

// world is versions with runtimes that sleep and start.
type world struct {
	mu       sync.Mutex
	versions map[string]svc.Version
	runtimes map[string]svc.Runtime // those that sleep, too
	used     map[string]time.Time
	wakes    map[string]svc.Wake
	starts   []string // with the seconds since the begin
	began    time.Time
	fail     error
	rousing  map[string]bool
	bytes    map[string]int64 // of memory
	counts   []string         // what the Observer counted
	pageOut  error
	under    int // starts under way
	most     int
}

func newWorld(ids ...string) *world {
	w := &world{versions: map[string]svc.Version{}, runtimes: map[string]svc.Runtime{}, used: map[string]time.Time{}, wakes: map[string]svc.Wake{}, began: time.Now()}
	for _, id := range ids {
		w.versions[id] = svc.Version{Ref: ref(id), Status: svc.StatusReady}
		w.runtimes[id] = svc.Runtime{Ref: ref(id), State: svc.RuntimeServing, Endpoint: svc.Endpoint{StartedAt: time.Now()}}
	}
	return w
}

func (w *world) service(after time.Duration) *sleep.Service {
	return sleep.New(sleep.Config{
		After: after, PageOutAfter: after, RecycleBytes: 100 << 20,
		Versions: w, Runtimes: w, Hosts: hosts{w}, Gateway: hosts{w}, Logger: slog.New(slog.DiscardHandler), Observer: w,
	})
}

func (w *world) Version(_ context.Context, r svc.Ref) (svc.Version, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.versions[r.Version], nil
}

func (w *world) Sleep(_ context.Context, r svc.Ref) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runtimes[r.Version] = svc.Runtime{Ref: r, State: svc.RuntimeAsleep, WakeAt: w.wakes[r.Version].At}
	return nil
}

func (w *world) Awake(_ context.Context, r svc.Ref) error {
	w.mu.Lock()
	w.under++
	w.most = max(w.most, w.under)
	w.mu.Unlock()
	time.Sleep(100 * time.Millisecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.under--
	w.starts = append(w.starts, r.Version+" "+time.Since(w.began).Truncate(time.Second).String())
	if w.fail == nil {
		w.runtimes[r.Version] = svc.Runtime{Ref: r, State: svc.RuntimeServing, Endpoint: svc.Endpoint{StartedAt: time.Now()}}
	}
	return w.fail
}

func (w *world) Asleep(r svc.Ref) (svc.Runtime, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.runtimes[r.Version]
	return now, now.State == svc.RuntimeAsleep
}

func (w *world) Rousing(r svc.Ref) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rousing[r.Version]
}

func (w *world) AllAsleep() []svc.Runtime { return w.inState(svc.RuntimeAsleep) }

func (w *world) inState(state svc.RuntimeState) (list []svc.Runtime) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runtimes {
		if r.State == state {
			list = append(list, r)
		}
	}
	return list
}

// asleep lists the ids of the versions that sleep.
func (w *world) asleep() string {
	var ids []string
	for _, r := range w.AllAsleep() {
		ids = append(ids, r.Ref.Version)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// hosts is the runtimes of a world that have processes, and the use of them.
type hosts struct{ w *world }

func (h hosts) Runtimes() []svc.Runtime { return h.w.inState(svc.RuntimeServing) }

func (h hosts) LastUse(r svc.Ref) time.Time {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	return h.w.used[r.Version]
}

func (h hosts) NextWake(_ context.Context, r svc.Ref) (svc.Wake, error) {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	return h.w.wakes[r.Version], nil
}

func (h hosts) Runtime(r svc.Ref) (svc.Runtime, bool) {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	now := h.w.runtimes[r.Version]
	return now, now.State == svc.RuntimeServing
}

func (h hosts) Measured() []svc.Runtime {
	list := h.Runtimes()
	for i := range list {
		list[i].RSSBytes = h.w.bytes[list[i].Ref.Version]
	}
	return list
}

func (h hosts) PageOut(_ context.Context, r svc.Ref) (svc.PagedOut, error) {
	if _, serves := h.Runtime(r); !serves {
		return svc.PagedOut{}, svc.Unavailable
	}
	return svc.PagedOut{Way: svc.PageOutWay(r.Version), Bytes: 1}, h.w.pageOut
}

// PagedOut and Recycled are those of an Observer.
func (w *world) PagedOut(p svc.PagedOut) { w.counts = append(w.counts, "out "+string(p.Way)) }
func (w *world) Recycled()               { w.counts = append(w.counts, "recycled") }

// counted returns what was counted since the last call, sorted.
func (w *world) counted() string {
	list := w.counts
	w.counts = nil
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// Data answers with the path of the request.
func (h hosts) Data(r svc.Ref, req *http.Request) (*http.Response, error) {
	if _, serves := h.Runtime(r); !serves {
		return nil, svc.Unavailable
	}
	return &http.Response{Status: req.URL.Path, Body: http.NoBody}, nil
}

// Dispatch answers that the event succeeded.
func (h hosts) Dispatch(_ context.Context, r svc.Ref, _ svc.Event) (svc.EventResult, error) {
	if _, serves := h.Runtime(r); !serves {
		return svc.EventResult{}, svc.Unavailable
	}
	return svc.EventResult{Outcome: svc.OutcomeOK}, nil
}

// TestSleepIdle: what keeps a version awake.
func TestSleepIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("asked", "behind", "broken", "busy", "cron", "draining", "idle", "later", "prod", "unpinged", "worked")
		s := w.service(10 * time.Minute)
		tick := func(after time.Duration) {
			t.Helper()
			<-time.After(after)
			if err := s.SleepIdle(t.Context()); err != nil {
				t.Error(err)
			}
		}
		change := func(id string, f func(v *svc.Version, r *svc.Runtime)) {
			v, r := w.versions[id], w.runtimes[id]
			f(&v, &r)
			w.versions[id], w.runtimes[id] = v, r
		}
		tick(9 * time.Minute)
		if got := w.asleep(); got != "" {
			t.Errorf("before the time %s sleep", got)
		}
		w.used["asked"] = time.Now()
		change("behind", func(_ *svc.Version, r *svc.Runtime) { r.Behind = time.Second })
		change("broken", func(_ *svc.Version, r *svc.Runtime) { r.DataError = "the object store does not answer" })
		change("draining", func(v *svc.Version, _ *svc.Runtime) { v.Status = svc.StatusDraining })
		change("prod", func(v *svc.Version, _ *svc.Runtime) { v.Production = true })
		change("worked", func(_ *svc.Version, r *svc.Runtime) { r.WorkedAt = time.Now() })
		w.wakes["busy"] = svc.Wake{Pending: 1}
		w.wakes["cron"] = svc.Wake{At: time.Now().Add(2 * time.Minute)}
		w.wakes["later"] = svc.Wake{At: time.Now().Add(time.Hour)}
		w.wakes["unpinged"] = svc.Wake{Worked: time.Now()}
		tick(time.Minute)
		if got := w.asleep(); got != "idle later" {
			t.Errorf("%s sleep", got)
		}
		w.wakes["busy"] = svc.Wake{}
		tick(9 * time.Minute)
		if got := w.asleep(); got != "asked busy idle later unpinged worked" {
			t.Errorf("%s sleep", got)
		}
	})
}

// TestOwnWork: versions start shortly before their own work is due, many of them earlier,
// and those whose work is overdue immediately.
func TestOwnWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("late", "never", "soon", "then")
		at := map[string]time.Duration{"late": -time.Hour, "soon": time.Minute, "then": time.Hour}
		for id := range w.runtimes {
			if at[id] != 0 {
				w.wakes[id] = svc.Wake{At: time.Now().Add(at[id])}
			}
			if err := w.Sleep(t.Context(), ref(id)); err != nil {
				t.Fatal(err)
			}
		}
		s := w.service(30 * time.Minute)
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(58 * time.Minute)
		w.wakes["soon"] = svc.Wake{At: time.Now().Add(10 * time.Minute)}
		if err := s.SleepIdle(t.Context()); err != nil {
			t.Error(err)
		}
		<-time.After(time.Hour)
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if want := []string{"late 0s", "soon 58s", "then 59m58s", "soon 1h7m58s"}; !slices.Equal(w.starts, want) {
			t.Errorf("the starts are %v, want %v", w.starts, want)
		}
	})
}

// TestRouse: requests at the same time share a start, which a failed one does not repeat by
// itself, and nothing starts after Stop.
func TestRouse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("v1")
		s := w.service(time.Minute)
		if err := w.Sleep(t.Context(), ref("v1")); err != nil {
			t.Fatal(err)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if err := s.Awake(gone, ref("v1")); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		for range 3 {
			s.Rouse(t.Context(), ref("v1"))
		}
		if err := s.Awake(t.Context(), ref("v1")); err != nil || len(w.starts) != 1 {
			t.Errorf("%v, the starts are %v", err, w.starts)
		}
		w.fail = svc.Errorf(svc.Unavailable, svc.CodeStoreUnavailable, "no bundle")
		if err := w.Sleep(t.Context(), ref("v1")); err != nil {
			t.Fatal(err)
		}
		if err := s.Awake(t.Context(), ref("v1")); !errors.Is(err, w.fail) || len(w.starts) != 2 {
			t.Errorf("%v, the starts are %v", err, w.starts)
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Awake(t.Context(), ref("v1")); err == nil {
			t.Error("it starts after Stop")
		}
	})
}

// TestCrowd: of many versions that are asked together a few start at the same time.
func TestCrowd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		s := w.service(time.Minute)
		for i := range 100 {
			id := strconv.Itoa(i)
			if err := w.Sleep(t.Context(), ref(id)); err != nil {
				t.Fatal(err)
			}
			s.Rouse(t.Context(), ref(id))
		}
		<-time.After(time.Hour)
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if limit := max(4, 2*runtime.GOMAXPROCS(0)); w.most != limit || len(w.starts) != 100 {
			t.Errorf("%d of %d starts at the same time, want %d", w.most, len(w.starts), limit)
		}
	})
}

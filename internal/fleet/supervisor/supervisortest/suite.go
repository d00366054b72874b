package supervisortest

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/supervisor"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// Place is somewhere to run versions: Driver and Host of the Config are set. Hosts must have
// room for three versions at a time.
type Place struct {
	Config supervisor.Config
	// Kill ends what serves at e, as a fault would.
	Kill func(t *testing.T, e svc.Endpoint)
}

// Run checks a driver. start makes a new place for each case.
func Run(t *testing.T, start func(t *testing.T) Place) {
	t.Helper()
	for name, check := range map[string]func(t *testing.T, w *world){
		"serve": serve, "data": data, "log": log, "bodies": bodies, "concurrent": concurrent, "cut": cut,
		"stop and open": stopAndOpen, "archive": archive, "sleep": sleep, "crash": crash, "host killed": hostKilled,
		"hang": hang, "broken worker": broken, "events": events, "measured": measured, "restart": restart,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, newWorld(t, start(t)))
		})
	}
}

// world is a Supervisor on a driver.
type world struct {
	*supervisor.Supervisor

	place Place
	base  string

	mu      sync.Mutex // guards restarts
	reasons []string
}

func newWorld(t *testing.T, p Place) *world {
	t.Helper()
	w := &world{place: p, base: t.TempDir()}
	c := p.Config
	c.Policy = supervisor.Policy{Min: time.Millisecond}
	c.PingEvery, c.PingTimeout, c.Grace = 100*time.Millisecond, svctest.Patience, time.Minute
	if strings.HasSuffix(t.Name(), "/hang") {
		c.PingTimeout = 4 * time.Second
	}
	c.OnRestart = func(_ svc.Ref, reason string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.reasons = append(w.reasons, reason)
	}
	var err error
	if w.Supervisor, err = supervisor.New(c); err != nil {
		t.Fatal(err)
	}
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	alive := context.WithoutCancel(t.Context())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(alive, time.Minute)
		defer cancel()
		if err := w.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return w
}

// open opens and serves a version.
func (w *world) open(t *testing.T, spec svc.RuntimeSpec) svc.Endpoint {
	t.Helper()
	if err := w.Open(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Prepare(t.Context(), spec.Ref); err != nil {
		t.Fatal(err)
	}
	e, err := w.Serve(t.Context(), spec.Ref)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// restarted waits until a version serves in another process than e, and returns where.
func (w *world) restarted(t *testing.T, ref svc.Ref, e svc.Endpoint) (now svc.Endpoint) {
	t.Helper()
	svctest.Eventually(t, "the restart", func() bool {
		r, ok := w.Runtime(ref)
		now = r.Endpoint
		return ok && r.State == svc.RuntimeServing && !now.StartedAt.Equal(e.StartedAt)
	})
	return now
}

func (w *world) reason(t *testing.T, want string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.reasons) == 0 || w.reasons[0] != want {
		t.Errorf("restarts because of %q, want %q", w.reasons, want)
	}
}

// exists reports whether a directory does.
func exists(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}

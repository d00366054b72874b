package deploy_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/deploy"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// deployed makes versions ready with one daemon.
func deployed(t *testing.T, w *world, ids ...string) {
	t.Helper()
	d := w.start(t, nil)
	for _, id := range ids {
		w.upload(t, ref(id), hello(t))
		d.submit(t, svc.NewVersion{ID: id})
		if v := d.run(t, ref(id)); v.Status != svc.StatusReady {
			t.Fatal(v.Error)
		}
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "v1", "v2", "v3")
	if err := w.SetProduction(t.Context(), "shop", "v1", "v3"); err != nil {
		t.Fatal(err)
	}
	d := w.start(t, nil)
	d.submit(t, svc.NewVersion{ID: "failed"})
	registrytest.Move(t, w.DB, ref("failed"), svc.TriggerFail)
	left := filepath.Join(w.root, "data", "shop", "failed") // by a crash
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	d = w.start(t, nil)
	if err := d.Announce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d.gateway.prod["shop"] != "v3" {
		t.Errorf("production is %q", d.gateway.prod["shop"])
	}
	for _, id := range []string{"v1", "v2", "v3"} {
		if r := d.gateway.routes[ref(id)]; r != (svc.Upstream{Status: svc.StatusReady, Starting: true}) {
			t.Errorf("before it runs, the route of %s is %+v", id, r)
		}
	}
	if got := d.gateway.routes[ref("failed")].Status; got != svc.StatusFailed {
		t.Errorf("the failed one is %q", got)
	}
	if err := d.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"v1", "v2", "v3"} {
		if got := d.gateway.answer(ref(id)); got != http.StatusTeapot {
			t.Errorf("%s answers %d", id, got)
		}
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the files of a failed version are still there: %v", err)
	}
	if err := d.Restore(t.Context()); err != nil || d.runtimes.running() != 3 {
		t.Errorf("again: %v, %d run", err, d.runtimes.running())
	}
	if slices.Contains(d.runtimes.log(), "prepare v1") {
		t.Error("a restored version was migrated again")
	}
}

// TestRestoreOrder: productions start first, two versions at a time.
func TestRestoreOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "v1", "v2", "v3", "v4")
	if err := w.SetProduction(t.Context(), "shop", "v1", "v4"); err != nil {
		t.Fatal(err)
	}
	d := w.start(t, nil)
	started, release := make(chan string), make(chan struct{})
	d.runtimes.hook = func(_ context.Context, call string, ref svc.Ref) error {
		if call == "open" {
			started <- ref.Version
			<-release
		}
		return nil
	}
	done := make(chan error)
	go func() { done <- d.Restore(t.Context()) }()
	first := []string{<-started, <-started}
	if !slices.Contains(first, "v4") {
		t.Errorf("the first two are %v", first)
	}
	select {
	case id := <-started:
		t.Errorf("%s starts as a third one", id)
	case release <- struct{}{}:
	}
	go func() {
		for range 3 {
			release <- struct{}{}
		}
	}()
	<-started
	<-started
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestRestoreFailing: a version that does not start stays ready and answers 502; the
// others run. It serves again when the supervisor reports so.
func TestRestoreFailing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "v1", "v2")
	d := w.start(t, func(deps *deploy.Deps) { deps.StartPause = time.Millisecond })
	d.runtimes.hook = func(_ context.Context, call string, ref svc.Ref) error {
		if call == "serve" && ref.Version == "v1" {
			d.RuntimeChanged(ref, svc.RuntimeCrashed, svc.Endpoint{})
			return svc.Errorf(svc.Unprocessable, "worker_threw", "Error")
		}
		return nil
	}
	if err := d.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v := registrytest.Get(t, w.DB, ref("v1")); v.Status != svc.StatusReady || v.Error != "" {
		t.Errorf("%s %q", v.Status, v.Error)
	}
	if got := d.gateway.answer(ref("v1")); got != http.StatusBadGateway {
		t.Errorf("the broken one answers %d", got)
	}
	if got := d.gateway.answer(ref("v2")); got != http.StatusTeapot {
		t.Errorf("the other one answers %d", got)
	}
	for state, want := range map[svc.RuntimeState]int{svc.RuntimeServing: http.StatusTeapot, svc.RuntimeBackoff: http.StatusServiceUnavailable} {
		d.RuntimeChanged(ref("v1"), state, svc.Endpoint{Socket: "/run/again.sock"})
		if got := d.gateway.answer(ref("v1")); got != want {
			t.Errorf("%s: it answers %d", state, got)
		}
	}
}

// TestRestoreRetries: Restore retries a version that does not start.
func TestRestoreRetries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "v1")
	d := w.start(t, func(deps *deploy.Deps) { deps.StartPause = time.Millisecond })
	tries := 0
	d.runtimes.hook = func(_ context.Context, call string, _ svc.Ref) error {
		if call != "serve" {
			return nil
		}
		if tries++; tries < 3 {
			return svc.Errorf(svc.Unprocessable, "startup_failed", "workerd ended: signal: killed")
		}
		return nil
	}
	if err := d.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := d.gateway.answer(ref("v1")); got != http.StatusTeapot || tries != 3 {
		t.Errorf("after %d tries it answers %d", tries, got)
	}
}

// TestRestoreFetchesAgain: Restore fetches a bundle that the cache does not have,
// when the object store answers again.
// spec: [C2.5]
func TestRestoreFetchesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "v1")
	if err := os.RemoveAll(w.cache()); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	left := 2
	d := w.start(t, func(deps *deploy.Deps) {
		deps.ArtifactWait = 1 // expires immediately
		deps.Artifacts = failingReads(deps.Artifacts, func() error {
			mu.Lock()
			defer mu.Unlock()
			if left--; left > 0 {
				return errors.New("connection refused")
			}
			return nil
		})
	})
	if err := d.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := d.gateway.answer(ref("v1")); got != http.StatusTeapot {
		t.Errorf("it answers %d: %s", got, strings.Join(d.gateway.log(), ", "))
	}
}

func TestRestoreStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "v1", "v2", "v3")
	d := w.start(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	d.runtimes.hook = func(context.Context, string, svc.Ref) error { cancel(); return context.Canceled }
	if err := d.Restore(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Restore: %v", err)
	}
}

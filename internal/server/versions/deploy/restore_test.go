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

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
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
	if !d.Ran(ref("v1")) || d.Ran(ref("failed")) {
		t.Errorf("v1 ran: %t, the failed one: %t", d.Ran(ref("v1")), d.Ran(ref("failed")))
	}
	for _, id := range []string{"v1", "v2", "v3"} {
		if r := d.gateway.routes[ref(id)]; r != (svc.Upstream{Status: svc.StatusReady, Starting: true, Planned: true, BundleDir: w.bundle(id)}) {
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

// TestRestoreMany: as many versions start at a time as Deps.Restores says.
func TestRestoreMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "v1", "v2", "v3", "v4")
	d := w.start(t, func(deps *deploy.Deps) { deps.Restores = 4 })
	started, release := make(chan string, 4), make(chan struct{})
	d.runtimes.hook = func(_ context.Context, call string, ref svc.Ref) error {
		if call == "open" {
			started <- ref.Version
			<-release
		}
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- d.Restore(t.Context()) }()
	for range 4 {
		svctest.Wait(t, "four starts together", started)
	}
	close(release)
	if err := svctest.Wait(t, "the restore", done); err != nil {
		t.Error(err)
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

// TestRestoreFailing: a version that does not start stays ready, and its runtime is
// restarted like one that crashed; the others run. It serves when the supervisor reports
// so.
func TestRestoreFailing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "v1", "v2")
	d := w.start(t, nil)
	d.runtimes.hook = func(_ context.Context, call string, ref svc.Ref) error {
		if call == "serve" && ref.Version == "v1" {
			d.RuntimeChanged(svc.Runtime{Ref: ref, State: svc.RuntimeCrashed})
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
	if got := d.gateway.routes[ref("v1")]; got.Starting || time.Until(got.RetryAt) < 50*time.Minute {
		t.Errorf("the route of the broken one is %+v", got)
	}
	if got := d.gateway.answer(ref("v2")); got != http.StatusTeapot {
		t.Errorf("the other one answers %d", got)
	}
	if got := d.NotServing(); !slices.Equal(got, []svc.Ref{ref("v1")}) {
		t.Errorf("not serving: %v", got)
	}
	for _, step := range []struct {
		now    svc.Runtime
		answer int
		down   bool
	}{
		{svc.Runtime{State: svc.RuntimeStarting}, http.StatusServiceUnavailable, true},
		{svc.Runtime{State: svc.RuntimeServing, Endpoint: svc.Endpoint{Socket: "/run/again.sock"}}, http.StatusTeapot, false},
		{svc.Runtime{State: svc.RuntimeBackoff, RetryAt: time.Now().Add(time.Hour)}, http.StatusServiceUnavailable, true},
		{svc.Runtime{State: svc.RuntimeCrashed}, http.StatusBadGateway, true},
	} {
		step.now.Ref = ref("v1")
		d.RuntimeChanged(step.now)
		if got := d.gateway.answer(ref("v1")); got != step.answer || len(d.NotServing()) > 0 != step.down {
			t.Errorf("%s: it answers %d, not serving: %v", step.now.State, got, d.NotServing())
		}
	}
}

// TestRoutesWhileWaiting: requests wait for a restart that is soon, and are refused if
// it is not.
func TestRoutesWhileWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "v1")
	d := w.start(t, nil)
	if err := d.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(time.Hour)
	d.RuntimeChanged(svc.Runtime{Ref: ref("v1"), State: svc.RuntimeBackoff, RetryAt: at})
	if got := d.gateway.routes[ref("v1")]; got != (svc.Upstream{Status: svc.StatusReady, RetryAt: at, BundleDir: w.bundle("v1")}) {
		t.Errorf("a long wait: %+v", got)
	}
	d.RuntimeChanged(svc.Runtime{Ref: ref("v1"), State: svc.RuntimeBackoff, RetryAt: time.Now()})
	if got := d.gateway.routes[ref("v1")]; got != (svc.Upstream{Status: svc.StatusReady, Starting: true, BundleDir: w.bundle("v1")}) {
		t.Errorf("a short wait: %+v", got)
	}
}

// TestReviveVersion: a version whose status serves gets a runtime, and the caller learns why it
// does not start.
func TestReviveVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "v1")
	d := w.start(t, nil)
	if err := d.Announce(t.Context()); err != nil {
		t.Fatal(err)
	}
	broken := true
	d.runtimes.hook = func(_ context.Context, call string, _ svc.Ref) error {
		if call == "serve" && broken {
			return svc.Errorf(svc.Unprocessable, "worker_threw", "Error: boom")
		}
		return nil
	}
	err := d.Revive(t.Context(), ref("v1"))
	if svc.CodeOf(err) != "version_not_serving" || !errors.Is(err, svc.Conflict) || !strings.Contains(err.Error(), "worker_threw: Error: boom") {
		t.Errorf("a version that does not start: %v", err)
	}
	if !slices.Contains(d.runtimes.log(), "restart v1") {
		t.Errorf("its runtime is not restarted: %v", d.runtimes.log())
	}
	broken = false
	for range 2 {
		if err := d.Revive(t.Context(), ref("v1")); err != nil {
			t.Error(err)
		}
	}
	if got := d.gateway.answer(ref("v1")); got != http.StatusTeapot {
		t.Errorf("it answers %d", got)
	}
	d.submit(t, svc.NewVersion{ID: "v2"})
	if err := d.Revive(t.Context(), ref("v2")); svc.CodeOf(err) != "version_not_ready" {
		t.Errorf("a version that was not deployed: %v", err)
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
		deps.ArtifactWait, deps.StartPause = 1, time.Millisecond // the wait expires immediately
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

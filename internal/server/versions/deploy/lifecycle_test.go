package deploy_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestStopEndsDeploy: a version that is destroyed at any step of its deploy ends
// without a process, and its job ends.
func TestStopEndsDeploy(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"fetch", "open", "prepare", "serve"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			reached := make(chan struct{})
			reach := sync.OnceFunc(func() { close(reached) })
			d := w.start(t, func(deps *deploy.Deps) {
				deps.Artifacts = failingReads(w.bucket, func() error {
					if at == "fetch" {
						reach()
						return objstore.ErrNotExist
					}
					return nil
				})
			})
			d.runtimes.hook = func(ctx context.Context, call string, _ svc.Ref) error {
				if call == at {
					reach()
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			}
			r := d.submit(t, svc.NewVersion{ID: "v1"})
			if at != "fetch" {
				w.upload(t, r, hello(t))
			}
			ran := make(chan error, 1)
			go func() { ran <- d.job(t.Context(), r) }()
			<-reached
			registrytest.Move(t, w.DB, r, svc.TriggerDestroy)
			if err := d.Stop(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if n := d.runtimes.running(); n != 0 {
				t.Errorf("%d runtimes are left: %v", n, d.runtimes.log())
			}
			if err := <-ran; err != nil {
				t.Errorf("the job is to be tried again: %v", err)
			}
			if v := registrytest.Get(t, d.DB, r); v.Status != svc.StatusDestroyed {
				t.Errorf("it is %s", v.Status)
			}
		})
	}
}

// TestStartAgain: Start fetches the bundle if the cache does not have it, runs no
// migrations, and leaves the status to its caller.
// spec: [C6.10] [C9.7]
func TestStartAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	r := d.submit(t, svc.NewVersion{ID: "v1", Env: map[string]string{"TOKEN": "hush-hush"}})
	w.upload(t, r, hello(t))
	d.run(t, r)
	clear := func() {
		t.Helper()
		registrytest.Move(t, w.DB, r, svc.TriggerArchive)
		d.StatusChanged(r, svc.StatusArchived)
		if err := d.Stop(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if err := d.DropBundle(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(filepath.Join(w.cache(), r.Project)); err != nil || len(left) > 0 {
			t.Fatalf("left in the cache: %v, %v", left, err)
		}
		registrytest.Move(t, w.DB, r, svc.TriggerWake)
		d.StatusChanged(r, svc.StatusDeploying)
	}
	if err := w.SetProduction(t.Context(), "shop", "v1", ""); err != nil {
		t.Fatal(err)
	}
	clear()
	before := len(d.runtimes.log())
	if err := d.Start(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := d.runtimes.log()[before:]; !slices.Equal(got, []string{"open v1", "serve v1"}) {
		t.Errorf("the start did %v", got)
	}
	if got := d.gateway.answer(r); got != 503 {
		t.Errorf("before the move it answers %d", got)
	}
	registrytest.Move(t, w.DB, r, svc.TriggerActivate)
	d.StatusChanged(r, svc.StatusReady)
	if got := d.gateway.answer(r); got != 418 {
		t.Errorf("it answers %d", got)
	}
	clear()
	d.runtimes.hook = func(_ context.Context, call string, _ svc.Ref) error {
		if call == "serve" {
			return svc.Errorf(svc.Unprocessable, "startup_failed", "it throws hush-hush").Because(errors.New("inner"))
		}
		return nil
	}
	err := d.Start(t.Context(), r)
	if svc.CodeOf(err) != "startup_failed" || strings.Contains(err.Error(), "hush-hush") || strings.Contains(err.Error(), "inner") {
		t.Errorf("err = %v", err)
	}
	// A job of the completed deploy does not disturb the wake.
	if err := d.Run(t.Context(), deployqueue.Job{Ref: r, Attempt: 9}); err != nil || registrytest.Get(t, d.DB, r).Status != svc.StatusDeploying {
		t.Errorf("%s, %v", registrytest.Get(t, d.DB, r).Status, err)
	}
}

// TestStopEndsRestore: a version that is archived while Restore starts it stays
// stopped.
func TestStopEndsRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.start(t, nil)
	r := first.submit(t, svc.NewVersion{ID: "v1"})
	w.upload(t, r, hello(t))
	first.run(t, r)
	if err := w.SetProduction(t.Context(), "shop", "v1", ""); err != nil {
		t.Fatal(err)
	}
	d := w.start(t, nil)
	serving := make(chan struct{})
	d.runtimes.hook = func(ctx context.Context, call string, _ svc.Ref) error {
		if call == "serve" {
			close(serving)
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
	restored := make(chan error, 1)
	go func() { restored <- d.Restore(t.Context()) }()
	<-serving
	registrytest.Move(t, w.DB, r, svc.TriggerArchive)
	d.StatusChanged(r, svc.StatusArchived)
	if err := d.Stop(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := <-restored; err != nil {
		t.Error(err)
	}
	if d.runtimes.running() != 0 || d.gateway.answer(r) != 503 {
		t.Errorf("%d run, it answers %d", d.runtimes.running(), d.gateway.answer(r))
	}
}

func TestPurge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	r, other := d.submit(t, svc.NewVersion{ID: "v1"}), d.submit(t, svc.NewVersion{ID: "v2"})
	for _, one := range []svc.Ref{r, other} {
		w.upload(t, one, hello(t))
		d.run(t, one)
		if err := os.MkdirAll(filepath.Join(w.root, "logs", "shop", one.Version), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := d.Purge(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		d.RemoveRoutes(r)
	}
	left, err := fs.Glob(os.DirFS(w.root), "[cl]*/shop/*")
	if want := []string{"cache/shop/v2", "cache/shop/v2.sha256", "logs/shop/v2"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left on disk: %v, %v; want %v", left, err, want)
	}
	objects, err := w.bucket.List(t.Context(), "", "", 10)
	if err != nil || len(objects) != 1 || objects[0].Key != "shop/v2/bundle.tar.zst" {
		t.Errorf("left in the bucket: %v, %v", objects, err)
	}
	d.RuntimeChanged(svc.Runtime{Ref: r, State: svc.RuntimeServing, Endpoint: svc.Endpoint{Socket: "/late"}})
	if got := d.gateway.answer(r); got != 404 {
		t.Errorf("a purged version answers %d", got)
	}
}

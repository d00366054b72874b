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

	"github.com/svcctl/svcctl/internal/deploy"
	"github.com/svcctl/svcctl/internal/jobs"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestStopEndsDeploy: a version destroyed at any step of its deploy ends
// without a process, whatever the step is at, and its job is over.
func TestStopEndsDeploy(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"fetch", "open", "prepare", "serve"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			reached := make(chan struct{})
			reach := sync.OnceFunc(func() { close(reached) })
			d := w.start(t, func(deps *deploy.Deps) {
				deps.Artifacts = flaky{w.bucket, func() error {
					if at == "fetch" {
						reach()
						return objstore.ErrNotExist
					}
					return nil
				}}
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
			go func() { ran <- d.Run(t.Context(), jobs.Job{Ref: r, Attempt: 1}) }()
			<-reached
			w.move(t, r, svc.TriggerDestroy)
			if err := d.Stop(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if n := d.runtimes.running(); n != 0 {
				t.Errorf("%d runtimes are left: %v", n, d.runtimes.log())
			}
			if err := <-ran; err != nil {
				t.Errorf("the job is to be tried again: %v", err)
			}
			if v := d.version(t, r); v.Status != svc.StatusDestroyed {
				t.Errorf("it is %s", v.Status)
			}
		})
	}
}

// TestStartAgain is what a wake does: the bundle comes again if the cache has
// lost it, migrations do not run, and the status is somebody else's.
func TestStartAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	r := d.submit(t, svc.NewVersion{ID: "v1", Env: map[string]string{"TOKEN": "hush-hush"}})
	w.upload(t, r, hello(t))
	d.run(t, r)
	clear := func() {
		t.Helper()
		w.move(t, r, svc.TriggerArchive)
		d.StatusChanged(r, svc.StatusArchived)
		if err := d.Stop(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(w.cache()); err != nil {
			t.Fatal(err)
		}
		w.move(t, r, svc.TriggerWake)
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
	if got := d.gate.answer(r); got != 503 {
		t.Errorf("before the move it answers %d", got)
	}
	w.move(t, r, svc.TriggerActivate)
	d.StatusChanged(r, svc.StatusReady)
	if got := d.gate.answer(r); got != 418 {
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
	// A job of the deploy that is long over leaves the wake alone.
	if err := d.Run(t.Context(), jobs.Job{Ref: r, Attempt: 9}); err != nil || d.version(t, r).Status != svc.StatusDeploying {
		t.Errorf("%s, %v", d.version(t, r).Status, err)
	}
}

// TestStopEndsRestore: a version that is archived while the daemon brings it
// back does not come back.
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
	w.move(t, r, svc.TriggerArchive)
	d.StatusChanged(r, svc.StatusArchived)
	if err := d.Stop(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := <-restored; err != nil {
		t.Error(err)
	}
	if d.runtimes.running() != 0 || d.gate.answer(r) != 503 {
		t.Errorf("%d run, it answers %d", d.runtimes.running(), d.gate.answer(r))
	}
}

func TestPurgeAndForget(t *testing.T) {
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
		d.Forget(r)
	}
	left, err := fs.Glob(os.DirFS(w.root), "[cl]*/shop/*")
	if want := []string{"cache/shop/v2", "cache/shop/v2.sha256", "logs/shop/v2"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left on disk: %v, %v; want %v", left, err, want)
	}
	objects, err := w.bucket.List(t.Context(), "", "", 10)
	if err != nil || len(objects) != 1 || objects[0].Key != "shop/v2/bundle.tar.zst" {
		t.Errorf("left in the bucket: %v, %v", objects, err)
	}
	d.RuntimeChanged(r, deploy.RuntimeServing, deploy.Endpoint{Socket: "/late"})
	if got := d.gate.answer(r); got != 404 {
		t.Errorf("a forgotten version answers %d", got)
	}
}

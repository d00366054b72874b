package deploy_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/svc"
)

// site returns the bundle of a worker with one static file.
func site(t *testing.T, code, file string) []byte {
	t.Helper()
	var b bytes.Buffer
	_, err := bundle.Pack(&b, bundle.Manifest{
		Main: "index.js", Modules: []bundle.Module{{Name: "index.js", Type: bundle.ESModule}}, CompatibilityDate: "2026-11-01",
		Assets: &bundle.Assets{Files: []bundle.File{{Path: "assets/a.txt"}}},
	}, bundle.Tree{"modules/index.js": []byte(code), "assets/a.txt": []byte(file)})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// deployed deploys a version with a bundle.
func (d *daemon) deployed(t *testing.T, n svc.NewVersion, data []byte) svc.Version {
	t.Helper()
	r := d.submit(t, n)
	d.upload(t, r, data)
	return d.run(t, r)
}

// TestBeginsAsleep: a version with the worker of its parent becomes ready without a
// process and starts at the first request; the parent shows its files meanwhile.
func TestBeginsAsleep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	d.deployed(t, svc.NewVersion{ID: "v1"}, site(t, "code", "one"))
	before := d.runtimes.log()
	v := d.deployed(t, svc.NewVersion{ID: "v2", ParentID: "v1", Asleep: true}, site(t, "code", "two"))
	if got := d.runtimes.log(); v.Status != svc.StatusReady || !slices.Equal(got, before) {
		t.Errorf("v2 is %s (%s); the runtimes got %q", v.Status, v.Error, got[len(before):])
	}
	if got := d.gateway.log(); got[len(got)-1] != "v2 ready asleep" || slices.Contains(got, "v2 ready") {
		t.Errorf("the gateway got %q", got)
	}
	if err := d.ShowFiles(t.Context(), ref("v1"), ref("v2")); err != nil {
		t.Fatal(err)
	}
	if got := d.gateway.routes[ref("v1")].BundleDir; got != w.bundle("v2") || !slices.Contains(d.runtimes.log(), "files of v2 in v1") {
		t.Errorf("v1 shows the files of %s; the runtimes got %q", got, d.runtimes.log())
	}
	if err := d.Awake(t.Context(), ref("v2")); err != nil || d.runtimes.running() != 2 {
		t.Errorf("%v, %d processes", err, d.runtimes.running())
	}
	if err := d.ShowFiles(t.Context(), ref("v1"), ref("v9")); err == nil {
		t.Error("v1 shows the files of a version that does not exist")
	}
}

// TestNotAsleep: a version with another worker, or of a parent that does not serve, does
// not begin asleep.
func TestNotAsleep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code     string
		env      map[string]string
		archived bool // the parent
	}{
		"other code":      {code: "other"},
		"other env":       {code: "code", env: map[string]string{"A": "1"}},
		"archived parent": {code: "code", archived: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newWorld(t).start(t, nil)
			d.deployed(t, svc.NewVersion{ID: "v0"}, hello(t)) // production
			d.deployed(t, svc.NewVersion{ID: "v1"}, site(t, "code", "one"))
			if c.archived {
				registrytest.Move(t, d.DB, ref("v1"), svc.TriggerArchive)
			}
			v := d.deployed(t, svc.NewVersion{ID: "v2", ParentID: "v1", Asleep: true, Env: c.env}, site(t, c.code, "two"))
			if v.Status != svc.StatusFailed || !strings.HasPrefix(v.Error, "deploying: worker_differs: ") {
				t.Errorf("v2 is %s: %s", v.Status, v.Error)
			}
		})
	}
}

// TestSleepAtStart: in watch mode only production starts with the daemon.
func TestSleepAtStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	d.deployed(t, svc.NewVersion{ID: "v1"}, hello(t))
	d.deployed(t, svc.NewVersion{ID: "v2"}, hello(t))
	next := w.start(t, func(d *deploy.Deps) { d.Sleep.AtStart = true })
	if err := next.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now, asleep := next.Asleep(ref("v2")); !asleep || now.State != svc.RuntimeAsleep || next.runtimes.running() != 1 {
		t.Errorf("v2 is %+v, %d processes", now, next.runtimes.running())
	}
	if err := next.Awake(t.Context(), ref("v2")); err != nil || next.runtimes.running() != 2 {
		t.Errorf("%v, %d processes", err, next.runtimes.running())
	}
}

package deploy_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// readOnly changes the project.
func (w *world) readOnly(t *testing.T, on bool) {
	t.Helper()
	if _, err := w.ChangeProject(t.Context(), "shop", svc.ProjectChange{ReadOnly: &on}); err != nil {
		t.Fatal(err)
	}
}

// isReadOnly returns what the gateway and the runtime of a version know.
func (d *daemon) isReadOnly(version string) (gateway, runtime bool) {
	d.gateway.mu.Lock()
	defer d.gateway.mu.Unlock()
	d.runtimes.mu.Lock()
	defer d.runtimes.mu.Unlock()
	return d.gateway.routes[ref(version)].ReadOnly, d.runtimes.open[ref(version)].ReadOnly
}

// TestReadOnly: versions of a read-only project are published and opened as such, after a change, after
// a deploy, and after a start of the server.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "v1")
	d := w.start(t, nil)
	if err := d.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	change := func(on bool) {
		t.Helper()
		w.readOnly(t, on)
		if err := d.ReadOnlyChanged(t.Context(), "shop"); err != nil {
			t.Fatal(err)
		}
		if gateway, _ := d.isReadOnly("v1"); gateway != on {
			t.Errorf("the gateway knows %t, want %t", gateway, on)
		}
	}
	change(true)
	change(false)
	change(true)
	v2 := d.submit(t, svc.NewVersion{ID: "v2", Digest: w.upload(t, ref("v2"), hello(t))})
	d.run(t, v2)
	if gateway, runtime := d.isReadOnly("v2"); !gateway || !runtime {
		t.Errorf("a new version: the gateway knows %t, the runtime %t", gateway, runtime)
	}
	d = w.start(t, nil)
	if err := d.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if gateway, runtime := d.isReadOnly("v1"); !gateway || !runtime {
		t.Errorf("after a start: the gateway knows %t, the runtime %t", gateway, runtime)
	}
}

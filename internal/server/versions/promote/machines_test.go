package promote_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/svcctl/svcctl/internal/svc"
)

// twoVersions is a world with two ready versions, the first of them production.
func twoVersions(t *testing.T) (*world, *daemon) {
	t.Helper()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	d := w.start(t, nil)
	if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
		t.Fatal(err)
	}
	return w, d
}

// TestMachines: a promote takes the production host from machines and waits until they have let go of
// it before requests wait and before the registry changes. They get it at the end.
func TestMachines(t *testing.T) {
	t.Parallel()
	w, d := twoVersions(t)
	d.promote(t, w, "v2")
	want := []string{"unshare v1", "settle v1", "held: settle v1", "share v2", "share v2"}
	if !slices.Equal(d.gateway.machines, want) {
		t.Errorf("%q, want %q", d.gateway.machines, want)
	}
}

// TestMachineSilent: a promote fails while a machine might still answer for production, and no request
// waits meanwhile.
func TestMachineSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := twoVersions(t)
		d.gateway.settled = make(chan struct{})
		if op := d.promote(t, w, "v2"); op.Status != svc.PromotionFailed || !strings.HasPrefix(op.Error, "drain: "+svc.CodeStepTimeout) {
			t.Errorf("ended %s: %s", op.Status, op.Error)
		}
		if slices.Contains(d.gateway.log(), "hold") || d.gateway.machines[len(d.gateway.machines)-1] != "share v1" {
			t.Errorf("%q, %q", d.gateway.log(), d.gateway.machines)
		}
		w.check(t, d.gateway, "v1")
		d.idle(t, w)
	})
}

// TestMachinesAfterFailure: when the last step fails, the new version's machine lets go of the production
// host before the old version gets it back.
func TestMachinesAfterFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	f := &faults{world: w}
	d := w.start(t, f.use)
	if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
		t.Fatal(err)
	}
	failed := false
	f.fail = func(call string) error {
		if call != "move undrain" || failed {
			return nil
		}
		failed = true
		return svc.Errorf(svc.Unavailable, "boom", "it broke")
	}
	if op := d.promote(t, w, "v2"); op.Status != svc.PromotionFailed {
		t.Errorf("ended %s: %s", op.Status, op.Error)
	}
	want := []string{"unshare v1", "settle v1", "held: settle v1", "share v2", "unshare v2", "settle v2", "share v1", "share v1"}
	if !slices.Equal(d.gateway.machines, want) {
		t.Errorf("%q, want %q", d.gateway.machines, want)
	}
}

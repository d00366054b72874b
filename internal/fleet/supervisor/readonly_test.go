package supervisor_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestReadOnly: a host knows that its project is read-only before it opens the data, also one after a
// crash, and hears of each change.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *options) { c.HostCommand = svctest.Command("armed-host") })
	spec := h.spec(hello, nil)
	spec.ReadOnly = true
	e := h.mustServe(spec)
	calls := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(spec.Local.LogDir, "armed")); err != nil || string(got) != want {
			t.Errorf("the calls are %q, %v, want %q", got, err, want)
		}
	}
	readOnly := func(on bool) {
		t.Helper()
		if err := h.Arm(t.Context(), spec.Ref, svc.Arming{Events: true, ReadOnly: on}); err != nil {
			t.Error(err)
		}
	}
	calls("R")
	readOnly(true)
	readOnly(false)
	calls("Rw")
	kill(t, e.PID)
	e = h.await(svc.RuntimeServing, 2)
	calls("Rw")
	readOnly(true)
	kill(t, e.PID)
	h.await(svc.RuntimeServing, 3)
	calls("RwrR")
}

//go:build e2e && linux

package e2e

import (
	"syscall"
	"testing"
	"time"
)

// TestUIServerHangs: the interface says soon that a daemon hangs, whose connections stay open, and
// shows what is new when the daemon continues.
func TestUIServerHangs(t *testing.T) {
	t.Parallel()
	const dir = "../../../examples/guestbook"
	d := started(t)
	d.deploy(dir, "--version", "v1")
	a := d.ui(d.note.API, "guestbook")
	a.sees("● ready")
	signal := func(s syscall.Signal) {
		t.Helper()
		if err := d.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = d.cmd.Process.Signal(syscall.SIGCONT) }) // a stopped daemon does not end
	began := time.Now()
	signal(syscall.SIGSTOP)
	a.sees("no answer for")
	took := time.Since(began)
	a.sees("s: what is shown is of " + began.Format("15:")) // the local time of the last sign of life
	if took > 15*time.Second {                              // 5 s, and the time that a busy machine takes
		t.Errorf("the interface says after %s that the server hangs", took)
	}
	signal(syscall.SIGCONT)
	a.sees("────") // the line below the first one
	d.ok(dir, "versions", "pin", "v1")
	a.sees("pinned")
	a.Press("q")
	a.leaves()
}

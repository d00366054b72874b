package supervisor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestHostHangs: a worker host that hangs while it starts workerd is killed, so that the version does not
// wait for it without end. What it starts here stops its parent, which is the host.
func TestHostHangs(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "workerd")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nkill -STOP $PPID\nsleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	h := start(t, func(o *options) {
		o.Workerd, o.HangTimeout, o.Host.Confine = script, 800*time.Millisecond, svc.ConfineOff
	})
	spec := h.spec(hello, nil)
	if err := h.Open(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	_, err := h.Serve(t.Context(), spec.Ref)
	if svc.CodeOf(err) != svc.CodeUnresponsive || !strings.Contains(err.Error(), "worker host") {
		t.Errorf("Serve: %v, want %s of the worker host", err, svc.CodeUnresponsive)
	}
}

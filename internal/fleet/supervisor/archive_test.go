package supervisor_test

import (
	"os"
	"sync/atomic"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

const helloWorker = `export default { async fetch() { return new Response("hello") } }`

// TestArchiveOfRunningVersion: a version that runs is not archived and not stopped.
func TestArchiveOfRunningVersion(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(helloWorker, nil)
	e := h.mustServe(spec)
	after := func() error { t.Error("the cache would be removed"); return nil }
	if err := h.Archive(t.Context(), spec, after); svc.CodeOf(err) != "runtime_open" {
		t.Errorf("Archive: %v", err)
	}
	h.want(e, "/", "hello")
	if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Fatal(err)
	}
	awaitExit(t, e.PID, e.WorkerdPID)
}

// TestConcurrentArchive: of concurrent calls, all succeed and one archives.
func TestConcurrentArchive(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(helloWorker, nil)
	h.mustServe(spec)
	if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Fatal(err)
	}
	const callers = 3
	removed, ends := make(chan struct{}, callers), make(chan error)
	var running atomic.Int32
	for range callers {
		go func() {
			ends <- h.Archive(t.Context(), spec, func() error {
				if running.Add(1) > 1 {
					t.Error("two calls archive at the same time")
				}
				defer running.Add(-1)
				removed <- struct{}{}
				return os.RemoveAll(spec.Local.DataDir)
			})
		}()
	}
	for range callers {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
	if len(removed) != 1 {
		t.Errorf("the cache was removed %d times", len(removed))
	}
	if left := h.Runtimes(); len(left) != 0 {
		t.Errorf("runtimes are left: %+v", left)
	}
}

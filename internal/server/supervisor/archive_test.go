package supervisor_test

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

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
	for _, pid := range []int{e.PID, e.WorkerdPID} {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d still runs: %v", pid, err)
		}
	}
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
	for range callers {
		go func() {
			ends <- h.Archive(t.Context(), spec, func() error {
				removed <- struct{}{}
				time.Sleep(10 * time.Millisecond) // time for a wrong concurrent Archive
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

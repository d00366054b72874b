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

// A version that runs is not archived, and stays the supervisor's to stop.
func TestArchiveOfARunningVersion(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(helloWorker, nil)
	e := h.mustServe(spec)
	then := func() error { t.Error("its cache would be removed"); return nil }
	if err := h.Archive(t.Context(), spec, then); svc.CodeOf(err) != "runtime_open" {
		t.Errorf("archiving says %v", err)
	}
	h.want(e, "/", "hello")
	if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{e.PID, e.WorkerdPID} {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d runs on: %v", pid, err)
		}
	}
}

// A fork of an archived version and whoever archives it may meet: both are told
// that it is done, and it is done once.
func TestArchiveTwiceAtOnce(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(helloWorker, nil)
	h.mustServe(spec)
	if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Fatal(err)
	}
	const callers = 3
	wiped, ends := make(chan struct{}, callers), make(chan error)
	for range callers {
		go func() {
			ends <- h.Archive(t.Context(), spec, func() error {
				wiped <- struct{}{}
				time.Sleep(10 * time.Millisecond) // for whoever would be about to open it meanwhile
				return os.RemoveAll(spec.DataDir)
			})
		}()
	}
	for range callers {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
	if len(wiped) != 1 {
		t.Errorf("the cache was removed %d times", len(wiped))
	}
	if left := h.Runtimes(); len(left) != 0 {
		t.Errorf("the supervisor still knows %+v", left)
	}
}

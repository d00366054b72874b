package supervisor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/supervisor"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// write replaces the module of a worker.
func write(t *testing.T, spec svc.RuntimeSpec, code string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(spec.Local.BundleDir, "modules", "index.js"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
}

const broken = `throw new Error("boom")`

// TestRestartsWithoutEnd: a version that crashes again and again serves when it can.
func TestRestartsWithoutEnd(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *options) {
		c.Policy = supervisor.Policy{Min: time.Millisecond, Max: 10 * time.Millisecond}
	})
	spec := h.spec(hello, nil)
	first := h.mustServe(spec)
	write(t, spec, broken)
	kill(t, first.WorkerdPID)
	h.await(svc.RuntimeBackoff, 7)
	r, ok := h.Runtime(spec.Ref)
	if !ok || r.Restarts < 7 || !strings.HasPrefix(r.LastError, "startup_exception: ") || r.Endpoint != (svc.Endpoint{}) {
		t.Errorf("runtime: %+v %v", r, ok)
	}
	write(t, spec, hello)
	h.want(h.await(svc.RuntimeServing, 2), "/", "hello")
	if r, _ := h.Runtime(spec.Ref); r.State != svc.RuntimeServing || !r.RetryAt.IsZero() {
		t.Errorf("runtime: %+v", r)
	}
}

// waiting returns a harness with a version that crashed and waits for half an hour at
// least, unless adjust shortens the waits that are asked for.
func waiting(t *testing.T, code string, policy supervisor.Policy) (*harness, svc.RuntimeSpec) {
	t.Helper()
	policy.Min, policy.Max = time.Hour, time.Hour
	h := start(t, func(c *options) { c.Policy = policy })
	spec := h.spec(hello, nil)
	first := h.mustServe(spec)
	write(t, spec, code)
	kill(t, first.WorkerdPID)
	h.await(svc.RuntimeBackoff, 1)
	return h, spec
}

// TestWaiting: what a version answers that waits after a crash.
func TestWaiting(t *testing.T) {
	t.Parallel()
	h, spec := waiting(t, hello, supervisor.Policy{})
	if r, _ := h.Runtime(spec.Ref); time.Until(r.RetryAt) < 20*time.Minute || r.Restarts != 1 {
		t.Errorf("runtime: %+v", r)
	}
	if err := h.Open(t.Context(), spec); err != nil {
		t.Errorf("Open: %v", err)
	}
	other := spec
	other.Env = map[string]string{"A": "b"}
	_, serve := h.Serve(t.Context(), spec.Ref)
	_, cut := h.Cut(t.Context(), spec.Ref)
	_, data := h.ask(spec.Ref, "GET", "/bindings", "")
	_, event := h.Dispatch(t.Context(), spec.Ref, scheduled(""))
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"Open with another spec": {h.Open(t.Context(), other), "runtime_open"},
		"Serve":                  {serve, "runtime_restarting"},
		"Cut":                    {cut, "runtime_restarting"},
		"Data":                   {data, "runtime_unavailable"},
		"Dispatch":               {event, "runtime_unavailable"},
	} {
		if svc.CodeOf(tc.err) != tc.want {
			t.Errorf("%s: %v, want %s", name, tc.err, tc.want)
		}
		if e := svc.AsError(tc.err); e.Kind == svc.Unavailable && e.RetryAfter < 20*time.Minute {
			t.Errorf("%s: try again in %s", name, e.RetryAfter)
		}
	}
	if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Fatal(err)
	}
	if got := h.states(); got != "starting serving backoff stopped" {
		t.Errorf("states: %s", got)
	}
}

// TestArchiveWhileWaiting: the data of a version that waits is shipped, and the version
// starts again after it.
func TestArchiveWhileWaiting(t *testing.T) {
	t.Parallel()
	h, spec := waiting(t, hello, supervisor.Policy{Urgent: time.Millisecond})
	revived := make(chan error, 1)
	err := h.Archive(t.Context(), spec, func() error {
		go func() { revived <- h.Revive(t.Context(), spec.Ref) }()
		if r, _ := h.Runtime(spec.Ref); r.State != svc.RuntimeBackoff {
			return fmt.Errorf("it is %s", r.State)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := svctest.Wait(t, "the start", revived); err != nil {
		t.Error(err)
	}
	h.serves(spec.Ref, "hello")
}

// TestAsked: a request to a version that waits brings it back.
func TestAsked(t *testing.T) {
	t.Parallel()
	h, spec := waiting(t, hello, supervisor.Policy{Asked: time.Millisecond})
	h.Asked(svc.Ref{Project: "shop", Version: "unknown"})
	h.Asked(spec.Ref)
	h.want(h.await(svc.RuntimeServing, 2), "/", "hello")
}

func TestRevive(t *testing.T) {
	t.Parallel()
	h, spec := waiting(t, hello, supervisor.Policy{Urgent: time.Millisecond})
	for range 2 {
		if err := h.Revive(t.Context(), spec.Ref); err != nil {
			t.Fatal(err)
		}
		h.serves(spec.Ref, "hello")
	}
	if err := h.Revive(t.Context(), svc.Ref{Project: "shop", Version: "unknown"}); svc.CodeOf(err) != "runtime_not_open" {
		t.Errorf("Revive of an unknown version: %v", err)
	}
}

// TestReviveOfABrokenVersion: the caller learns why the start failed, and the version
// keeps waiting.
func TestReviveOfABrokenVersion(t *testing.T) {
	t.Parallel()
	h, spec := waiting(t, broken, supervisor.Policy{Urgent: time.Millisecond})
	for range 2 {
		err := h.Revive(t.Context(), spec.Ref)
		if svc.CodeOf(err) != "version_not_serving" || !strings.Contains(err.Error(), "boom") {
			t.Errorf("Revive: %v", err)
		}
		if r, _ := h.Runtime(spec.Ref); r.State != svc.RuntimeBackoff {
			t.Errorf("runtime: %+v", r)
		}
	}
	write(t, spec, hello)
	if err := h.Revive(t.Context(), spec.Ref); err != nil {
		t.Errorf("Revive of the repaired version: %v", err)
	}
}

// TestRestartOfAFailedStart: a version whose first start fails comes back, too.
func TestRestartOfAFailedStart(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(broken, nil)
	if err := h.Restart(t.Context(), spec.Ref, nil); svc.CodeOf(err) != "runtime_not_open" {
		t.Errorf("Restart without a start: %v", err)
	}
	_, cause := h.serve(spec)
	if svc.CodeOf(cause) != "startup_exception" {
		t.Fatal(cause)
	}
	for range 2 {
		if err := h.Restart(t.Context(), spec.Ref, cause); err != nil {
			t.Error(err)
		}
	}
	h.await(svc.RuntimeBackoff, 3)
	write(t, spec, hello)
	h.want(h.await(svc.RuntimeServing, 1), "/", "hello")
}

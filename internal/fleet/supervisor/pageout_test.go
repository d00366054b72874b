package supervisor_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestPageOut: a runtime whose memory was moved continues to serve.
func TestPageOut(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(`let n = 0; export default { fetch() { return new Response("hello " + ++n) } }`, nil)
	if _, err := h.PageOut(t.Context(), spec.Ref); svc.CodeOf(err) != svc.CodeRuntimeUnavailable {
		t.Errorf("without a runtime: %v", err)
	}
	e := h.mustServe(spec)
	h.want(e, "/", "hello 1")
	for range 2 { // the second time most of it is gone already
		done, err := h.PageOut(t.Context(), spec.Ref)
		if err != nil || done.Bytes < 0 {
			t.Errorf("%+v, %v", done, err)
		}
		if want := svc.PageOutProcesses; runtime.GOOS == "linux" && os.Geteuid() == 0 && done.Way != want {
			t.Errorf("root pages out by %q, want %q", done.Way, want)
		}
	}
	h.want(e, "/", "hello 2")
	if r := h.Runtimes()[0]; r.State != svc.RuntimeServing || r.Restarts > 0 {
		t.Errorf("%+v", r)
	}
}

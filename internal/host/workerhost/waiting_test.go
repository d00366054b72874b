package workerhost_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/host/workerhost"
	"github.com/svcctl/svcctl/internal/svc"
)

const waitScript = `let ended = false;
const work = async () => { while (!ended) await scheduler.wait(5); };
export default { fetch(request, env, ctx) {
	if (request.url.endsWith("/work")) ctx.waitUntil(work());
	if (request.url.endsWith("/end")) ctx.waitUntil(scheduler.wait(300).then(() => { ended = true; }));
	return new Response("answered");
} };`

// TestSealWaits: before a release seals the data, the work of answered requests ends, or the host
// says that some is left.
func TestSealWaits(t *testing.T) {
	t.Parallel()
	h := workerhost.New(workerhost.Options{
		Logger: slog.New(slog.DiscardHandler), Exited: func(control.Exit) {},
		Open: func(ctx context.Context, _ svc.RuntimeSpec, m *bundle.Manifest, _ func(error)) (workerhost.Resources, error) {
			set, err := binding.OpenAll(ctx, nil, m, nil)
			return resources{set}, err
		},
	})
	if err := h.Open(t.Context(), versionOf(t, waitScript)); err != nil {
		t.Fatal(err)
	}
	paused := func(s control.Seal, want ...string) {
		t.Helper()
		s.State = control.SealPaused
		if done, err := h.Seal(t.Context(), s); err != nil || !slices.Equal(done.Running, want) {
			t.Errorf("%+v: %v, %v, want %v", s, done.Running, err, want)
		}
	}
	paused(control.Seal{}) // workerd does not run
	e, err := h.Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	paused(control.Seal{})
	visit(t, e.Socket, "/work")
	visit(t, e.Socket, "/work")
	paused(control.Seal{}, "waitUntil (2)")
	paused(control.Seal{Wait: 50 * time.Millisecond}, "waitUntil (2)")
	paused(control.Seal{Late: true})
	visit(t, e.Socket, "/end")
	paused(control.Seal{Wait: time.Minute})
	if _, err := h.Stop(t.Context(), control.Stop{}); err != nil {
		t.Error(err)
	}
}

// visit sends a request and returns when it is answered.
func visit(t *testing.T, socket, path string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://worker.test"+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}

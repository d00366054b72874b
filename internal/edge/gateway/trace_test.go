package gateway_test

import (
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestTraces(t *testing.T) { engines(t, testTraces) }

// testTraces: the observer and the worker see the same trace. A client decides whether its
// own traces are recorded, the gateway decides for the others.
func testTraces(t *testing.T, engine gateway.Engine) {
	o := &observer{}
	b := start(t, gateway.Config{Engine: engine, Observer: o, Sampled: func(trace []byte) bool { return len(trace) == 32 }})
	b.ready(shop, startWorker(t, "v1").socket)
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	var seen []string
	for _, client := range []string{"", "00-" + trace + "-" + parent + "-01", "00-" + trace + "-" + parent + "-02"} {
		req := request(t, http.MethodGet, "v1.shop.apps.test", "/", nil)
		if client != "" {
			req.Header.Set("traceparent", client)
		}
		_, body := b.do(t, req)
		seen = append(seen, decodeSeen(t, body).Headers["traceparent"])
		svctest.Eventually(t, "the observer is called", func() bool { return o.count() == len(seen) })
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, want := range []struct{ trace, parent, flags string }{{seen[0][3:35], "", "01"}, {trace, parent, "01"}, {"", "", "02"}} {
		r := o.requests[i]
		if string(r.Trace) != want.trace || string(r.Parent) != want.parent || string(r.ID) != seen[i][36:52] || seen[i][53:] != want.flags {
			t.Errorf("request %d: trace %q, parent %q, span %q, to the worker %q", i, r.Trace, r.Parent, r.ID, seen[i])
		}
	}
}

package supervisor_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestOwnPort: the port of a version answers only with its key, which each start changes, and
// no client sets what the gateway sets.
func TestOwnPort(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(`export default { fetch(req) {
		return Response.json({ url: req.url, cf: req.cf?.forged ?? null, key: req.headers.get("X-Svc-Port-Key") }) } }`, nil)
	e := h.mustServe(spec)
	for name, tc := range map[string]struct {
		key    string
		status int
		body   string
	}{
		"without the key": {"", http.StatusForbidden, ""},
		"another key":     {"x" + e.PortKey[1:], http.StatusForbidden, ""},
		"the key":         {e.PortKey, http.StatusOK, `{"url":"http://shop.test/a?b=c","cf":null,"key":null}`},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/a?b=c", e.Port), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "shop.test"
		req.Header = http.Header{"X-Svc-Port-Key": {tc.key}, "X-Svc-Cf": {`{"forged":true}`}, "X-Svc-Proto": {"https"}}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != tc.status || tc.body != "" && string(body) != tc.body {
			t.Errorf("%s: %d %s %v", name, res.StatusCode, body, err)
		}
	}
	kill(t, e.WorkerdPID)
	if next := h.await(svc.RuntimeServing, 2); next.PortKey == e.PortKey {
		t.Error("the next start has the same key")
	}
}

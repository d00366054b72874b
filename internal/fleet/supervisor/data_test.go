package supervisor_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// ask sends a request for the version's data.
func (h *harness) ask(ref svc.Ref, method, path, body string) (string, error) {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), method, path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	resp, err := h.Data(ref, r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text), nil
}

// TestDataForTheAPI: Data reaches the data of the worker.
// spec: [C14.1]
func TestDataForTheAPI(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(`export default { async fetch(_, env) { return new Response(await env.KV.get("a/b")) } }`, func(m *bundle.Manifest) {
		m.Bindings = []bundle.Binding{{Name: "KV", Kind: "kv", Resource: "kv"}}
	})
	if _, err := h.ask(spec.Ref, "GET", "/bindings", ""); svc.CodeOf(err) != "runtime_unavailable" {
		t.Errorf("before Open: %v", err)
	}
	e := h.mustServe(spec)
	if _, err := h.ask(spec.Ref, "PUT", "/kv/KV/values/a%2Fb", "from outside"); err != nil {
		t.Fatal(err)
	}
	h.want(e, "/", "from outside")
	got, err := h.ask(spec.Ref, "GET", "/bindings", "")
	const want = `{"items":[{"name":"KV","kind":"kv","resource":"kv","branched":false,"parent_version_id":null,"fork_txid":"","stats":{"keys":1,"size_bytes":12}}]}`
	if err != nil || got != want {
		t.Errorf("%s %v", got, err)
	}
	_, err = h.ask(spec.Ref, "GET", "/kv/NO/keys", "")
	if refused := svc.AsError(err); refused.Kind != svc.NotFound || refused.Code != "binding_not_found" || refused.Hint != "it has KV" {
		t.Errorf("%+v", refused)
	}
	if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ask(spec.Ref, "GET", "/bindings", ""); svc.CodeOf(err) != "runtime_unavailable" {
		t.Errorf("after StopVersion: %v", err)
	}
}

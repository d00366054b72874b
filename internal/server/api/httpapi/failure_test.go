package httpapi_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestFailureInSources: a record has the error with places of the bundle, and beside it with those of the
// sources, if they are known.
func TestFailureInSources(t *testing.T) {
	t.Parallel()
	h := start(t, func(d *httpapi.Deps) {
		d.InSources = func(_ svc.Ref, text string) string {
			return strings.ReplaceAll(text, "index.js:3:3", "src/index.ts:1:24")
		}
	})
	h.project("shop")
	for id, text := range map[string]string{"v-1": "deploying: startup_exception: no at index.js:3:3", "v-2": "fetching: x: y"} {
		h.version("shop", id)
		if _, err := h.db.Move(t.Context(), svc.Ref{Project: "shop", Version: id}, svc.TriggerFail, svc.Change{Error: text}); err != nil {
			t.Fatal(err)
		}
	}
	read := func(id string) api.Version {
		t.Helper()
		return decode[api.Version](h.do(request{method: "GET", path: "/v1/projects/shop/versions/" + id}).want(200))
	}
	if v := read("v-1"); !strings.HasSuffix(v.Error, "index.js:3:3") || v.ErrorInSources != "deploying: startup_exception: no at src/index.ts:1:24" {
		t.Errorf("got %q, %q", v.Error, v.ErrorInSources)
	}
	if v := read("v-2"); v.ErrorInSources != "" {
		t.Errorf("got %q", v.ErrorInSources)
	}
}

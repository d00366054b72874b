package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

const envPath = "/v1/projects/shop/versions/v1/env"

func (h *harness) putEnv(body any, match string) reply {
	h.t.Helper()
	r := request{method: "PUT", path: envPath, body: body, outside: true}
	if match != "" {
		r.header = http.Header{"If-Match": {match}}
	}
	return h.do(r)
}

// TestEnv reads and replaces the environment of a version.
// spec: [C5.4] [C5.5] [C5.6] [C5.20] [C5.21]
func TestEnv(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v1")
	if err := h.db.SetBundleEnv(t.Context(), svc.Ref{Project: "shop", Version: "v1"}, map[string]string{"A": "bundle", "B": "bundle"}); err != nil {
		t.Fatal(err)
	}
	first := h.do(request{method: "GET", path: envPath}).want(200)
	tag := first.Header.Get("ETag")
	got := h.putEnv(api.SetEnv{Vars: map[string]string{"B": "", "C": "own"}}, tag).want(200)
	want := api.EnvList{Items: []api.EnvEntry{
		{Key: "A", Value: "bundle", Source: "bundle", Shadowed: []api.EnvSource{}},
		{Key: "B", Value: "", Source: "override", Shadowed: []api.EnvSource{"bundle"}},
		{Key: "C", Value: "own", Source: "override", Shadowed: []api.EnvSource{}},
		{Key: "PROJECT_ID", Value: "shop", Source: "platform", Shadowed: []api.EnvSource{}},
		{Key: "VERSION_ID", Value: "v1", Source: "platform", Shadowed: []api.EnvSource{}},
	}}
	again := h.do(request{method: "GET", path: envPath}).want(200)
	for _, r := range []reply{got, again} {
		if diff := cmp.Diff(want, decode[api.EnvList](r)); diff != "" || r.Header.Get("ETag") == tag || r.Header.Get("ETag") != got.Header.Get("ETag") {
			t.Errorf("ETag %s, -want +got:\n%s", r.Header.Get("ETag"), diff)
		}
	}
	h.putEnv(api.SetEnv{Vars: map[string]string{}}, tag).wantProblem(412, "etag_mismatch")
	cleared := decode[api.EnvList](h.putEnv(api.SetEnv{Vars: map[string]string{}}, "*").want(200))
	if len(cleared.Items) != 4 || cleared.Items[1].Value != "bundle" {
		t.Errorf("%+v", cleared)
	}
}

// TestEnvErrors: every invalid variable is reported by its pointer, and no value.
// spec: [C5.10] [C5.12] [C5.14] [C5.16] [C15.3]
func TestEnvErrors(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v1")
	p := h.putEnv(api.SetEnv{Vars: map[string]string{
		"SVC_A": "hush-1", "RUNTIME_B": "hush-2", "VERSION_ID": "hush-3", "a/b": "hush-4", "LONG": strings.Repeat("hush-5", 2000),
	}}, "")
	if got := len(p.wantProblem(422, "env_value_too_large").Errors); got != 5 || strings.Contains(string(p.body), "hush") {
		t.Errorf("%d errors in %s", got, p.body)
	}
	h.putEnv(`{}`, "").wantProblem(400, "invalid_type")
	h.putEnv(`{"vars":null}`, "").wantProblem(400, "invalid_type")
	h.putEnv(`{"vars":{"A":null}}`, "").wantProblem(400, "invalid_type")
	h.putEnv(`{"vars":{},"more":1}`, "").wantProblem(400, "unknown_field")
	for _, method := range []string{"GET", "PUT"} {
		h.do(request{method: method, path: envPath, token: "none", outside: true}).wantProblem(401, "unauthorized")
		h.do(request{method: method, path: envPath, token: deployToken, outside: true}).wantProblem(403, "forbidden")
	}
	h.do(request{method: "GET", path: "/v1/projects/shop/versions/none/env"}).wantProblem(404, "version_not_found")
	h.do(request{method: "DELETE", path: "/v1/projects/shop/versions/v1"}).want(200)
	h.do(request{method: "GET", path: envPath}).wantProblem(410, "version_destroyed")
	h.putEnv(api.SetEnv{Vars: map[string]string{"A": "1"}}, "").wantProblem(410, "version_destroyed")
}

func TestEnvSDK(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v1")
	h.ready("shop", "broken")
	c, err := client.New(h.url, client.Tokens{Deploy: deployToken, Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	env, err := c.Env(t.Context(), "shop", "v1")
	if err != nil || env.ETag == "" || len(env.Overrides()) > 0 {
		t.Fatalf("%+v, %v", env, err)
	}
	now, err := c.SetEnv(t.Context(), "shop", "v1", map[string]string{"A": "1"}, env.ETag)
	if err != nil || now.Overrides()["A"] != "1" || now.ETag == env.ETag {
		t.Errorf("%+v, %v", now, err)
	}
	if _, err := c.SetEnv(t.Context(), "shop", "v1", nil, env.ETag); client.CodeOf(err) != "etag_mismatch" {
		t.Error(err)
	}
	if _, err := c.SetEnv(t.Context(), "shop", "broken", nil, ""); client.CodeOf(err) != "env_restart_failed" {
		t.Error(err)
	}
}

package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestLifecycle calls each verb.
// spec: [C9.11]
func TestLifecycle(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	for _, id := range []string{"v1", "slow", "broken"} {
		h.ready("shop", id)
	}
	verb := func(method, version, path string) reply {
		t.Helper()
		return h.do(request{method: method, path: "/v1/projects/shop/versions/" + version + path})
	}
	expect := func(r reply, status api.VersionStatus) {
		t.Helper()
		if v := decode[api.Version](r); v.Status != status || v.PollURL == "" {
			t.Errorf("%+v", v)
		}
	}
	for _, id := range []string{"v1", "slow", "broken"} {
		got := verb("POST", id, "/archive").want(200)
		if expect(got, "archived"); got.Header.Get("ETag") == "" {
			t.Error("no ETag")
		}
	}
	expect(verb("POST", "v1", "/wake").want(200), "ready")
	slow := verb("POST", "slow", "/wake").want(http.StatusAccepted)
	expect(slow, "deploying")
	if want := h.url + "/v1/projects/shop/versions/slow"; slow.Header.Get("Location") != want {
		t.Errorf("Location %q, want %q", slow.Header.Get("Location"), want)
	}
	verb("POST", "broken", "/wake").wantProblem(503, "wake_failed")
	for path, pinned := range map[string]bool{"/pin": true, "/unpin": false} {
		for range 2 {
			if v := decode[api.Version](verb("POST", "v1", path).want(200)); v.Pinned != pinned {
				t.Errorf("%s: %+v", path, v)
			}
		}
	}
	expect(verb("DELETE", "v1", "").want(200), "destroyed")
	expect(verb("GET", "v1", "").want(200), "destroyed")
	for _, path := range []string{"/archive", "/wake", "/pin", "/unpin"} {
		verb("POST", "v1", path).wantProblem(410, "version_destroyed")
	}
	verb("GET", "v1", "/logs").wantProblem(410, "version_destroyed")
	verb("POST", "none", "/archive").wantProblem(404, "version_not_found")
	if page := decode[api.VersionPage](h.do(request{method: "GET", path: "/v1/projects/shop/versions"}).want(200)); len(page.Items) != 2 {
		t.Errorf("the list has a destroyed version: %+v", page.Items)
	}
}

// TestLifecycleTokens: the verbs require the admin token.
// spec: [C15.3]
func TestLifecycleTokens(t *testing.T) {
	t.Parallel()
	h := start(t)
	const v = "/v1/projects/shop/versions/v1"
	for _, tc := range [][2]string{{"DELETE", v}, {"POST", v + "/archive"}, {"POST", v + "/wake"}, {"POST", v + "/pin"}, {"POST", v + "/unpin"}} {
		h.do(request{method: tc[0], path: tc[1], token: "none"}).wantProblem(401, "unauthorized")
		h.do(request{method: tc[0], path: tc[1], token: deployToken}).wantProblem(403, "forbidden")
	}
}

func TestLifecycleSDK(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v1")
	c, err := client.New(h.url, client.Tokens{Deploy: deployToken, Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if v, err := c.Pin(ctx, "shop", "v1"); err != nil || !v.Pinned {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := c.Unpin(ctx, "shop", "v1"); err != nil || v.Pinned {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := c.Archive(ctx, "shop", "v1"); err != nil || v.Status != "archived" {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := c.Wake(ctx, "shop", "v1"); err != nil || v.Status != "ready" || v.WokenAt == nil {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := c.Destroy(ctx, "shop", "v1"); err != nil || v.Status != "destroyed" {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := c.Wake(ctx, "shop", "v1"); client.CodeOf(err) != "version_destroyed" {
		t.Error(err)
	}
}

package httpapi_test

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestNamedTokens: several tokens of a role are valid beside the operator's, and a token
// that reads neither changes anything nor sees values and data.
// spec: [C15.5] [C15.6] [C15.11]
func TestNamedTokens(t *testing.T) {
	t.Parallel()
	token := func(name, role string, expires time.Time) svc.Token {
		return svc.Token{Name: name, Role: role, Hash: sha256.Sum256([]byte("token-of-" + name)), Expires: expires}
	}
	list := []svc.Token{
		token("ci", svc.RoleDeploy, time.Time{}), token("ops", svc.RoleAdmin, time.Now().Add(time.Hour)),
		token("old", svc.RoleAdmin, time.Now().Add(-time.Second)), token("board", svc.RoleRead, time.Time{}),
	}
	h := start(t, func(d *httpapi.Deps) { d.Tokens.Named = func() []svc.Token { return list } })
	h.project("shop")
	h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: "token-of-ci", body: api.CreateVersion{ID: "v1", Env: map[string]string{"A": "hunter2"}}}).want(202)
	const v1 = "/v1/projects/shop/versions/v1"
	for _, tc := range []struct {
		method, path, token string
		status              int
	}{
		{"POST", v1 + "/pin", "ops", 200},
		{"POST", v1 + "/pin", "old", 401},
		{"POST", v1 + "/pin", "ci", 403},
		{"POST", v1 + "/pin", "board", 403},
		{"POST", "/v1/projects/shop/versions", "ops", 403},
		{"POST", "/v1/projects/shop/versions", "board", 403},
		{"GET", v1, "board", 200},
		{"GET", v1, "ci", 403},
		{"GET", v1 + "?reveal=true", "board", 403},
		{"GET", v1 + "?reveal=true", "ops", 200},
		{"GET", "/v1/audit", "board", 200},
		{"GET", "/v1/runtime/routes", "board", 200},
		{"GET", "/v1/server/leases", "board", 200},
		{"GET", "/v1/nodes", "board", 200},
		{"GET", "/v1/gateways", "board", 200},
		{"GET", "/v1/server/log", "board", 403},
		{"GET", "/v1/server/log", "ci", 403},
		{"GET", "/v1/server/log", "ops", 200},
		{"GET", v1 + "/database", "board", 403},
		{"GET", v1 + "/kv/KV/keys", "board", 403},
	} {
		r := h.do(request{method: tc.method, path: tc.path, token: "token-of-" + tc.token, outside: true})
		if r.StatusCode != tc.status {
			t.Errorf("%s %s with %s: %d, want %d: %s", tc.method, tc.path, tc.token, r.StatusCode, tc.status, r.body)
		}
	}
	server := decode[api.Server](h.do(request{method: "GET", path: "/v1/server", token: "token-of-board"}).want(200))
	if n := len(server.Tokens); n != 5 || server.Tokens[0].Name != "admin" || server.Tokens[4].Name != "board" || server.Tokens[4].Role != "read" || len(server.Tokens[4].Fingerprint) != 8 ||
		server.Tokens[3].Name != "ops" || server.Tokens[3].ExpiresAt.IsZero() { // without the expired one
		t.Errorf("%+v", server.Tokens)
	}
	hidden := h.do(request{method: "GET", path: v1 + "/env", token: "token-of-board"}).want(200)
	if strings.Contains(string(hidden.body), "hunter2") || !strings.Contains(string(hidden.body), "(hidden, 7 bytes)") {
		t.Errorf("%s", hidden.body)
	}
	_, items := h.records("?action=pinVersion")
	if len(items) != 1 || items[0].Actor.Token != "ops" || items[0].Actor.Role != "admin" {
		t.Errorf("%+v", items)
	}
	list = list[2:] // rotated
	h.do(request{method: "POST", path: v1 + "/unpin", token: "token-of-ops"}).wantProblem(401, "unauthorized")
}

// TestKeysOfPortsAreForAdmins: with the key of a version's own port, a request passes the gateway by.
func TestKeysOfPortsAreForAdmins(t *testing.T) {
	t.Parallel()
	list := []svc.Token{{Name: "board", Role: svc.RoleRead, Hash: sha256.Sum256([]byte("token-of-board"))}, {Name: "ops", Role: svc.RoleAdmin, Hash: sha256.Sum256([]byte("token-of-ops"))}}
	h := start(t, func(d *httpapi.Deps) { d.Tokens.Named = func() []svc.Token { return list } })
	h.fakes.routes = []svc.Route{{Host: "a", Ref: svc.Ref{Project: "shop", Version: "v1"}, Runtime: svc.Runtime{Endpoint: svc.Endpoint{Port: 81, PortKey: "of this start"}}}}
	for token, want := range map[string]string{"": "of this start", "token-of-ops": "of this start", "token-of-board": ""} {
		got := h.do(request{method: "GET", path: "/v1/runtime/routes", token: token}).want(200)
		if page := decode[api.RoutePage](got); len(page.Items) != 1 || page.Items[0].UpstreamKey != want || strings.Contains(string(got.body), "of this start") != (want != "") {
			t.Errorf("%q: %s", token, got.body)
		}
	}
}

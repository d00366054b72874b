package httpapi_test

import (
	"crypto/sha256"
	"slices"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestWhoami: the answer names the roles of every valid token.
// spec: [C15.5] [C15.6]
func TestWhoami(t *testing.T) {
	t.Parallel()
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	board := svc.Token{Name: "board", Role: svc.RoleRead, Hash: sha256.Sum256([]byte("token-of-board")), Expires: expires}
	h := start(t, func(d *httpapi.Deps) { d.Tokens.Named = func() []svc.Token { return []svc.Token{board} } })
	one := start(t, func(d *httpapi.Deps) { d.Tokens = httpapi.Tokens{Legacy: "one"} })
	for _, tc := range []struct {
		h     *harness
		token string
		want  api.Whoami
	}{
		{h, adminToken, api.Whoami{Roles: []api.WhoamiRoles{"admin"}, Token: "admin"}},
		{h, deployToken, api.Whoami{Roles: []api.WhoamiRoles{"deploy"}, Token: "deploy"}},
		{h, "token-of-board", api.Whoami{Roles: []api.WhoamiRoles{"read"}, Token: "board", ExpiresAt: api.MaybeAt(expires)}},
		{one, "one", api.Whoami{Roles: []api.WhoamiRoles{"admin", "deploy"}, Token: "deploy"}},
	} {
		c, err := client.New(tc.h.url, client.Tokens{Admin: tc.token}, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Whoami(t.Context())
		if err != nil || !slices.Equal(got.Roles, tc.want.Roles) || got.Token != tc.want.Token || len(got.Fingerprint) != 8 ||
			(got.ExpiresAt == nil) != (tc.want.ExpiresAt == nil) || got.ExpiresAt != nil && !got.ExpiresAt.Equal(expires) {
			t.Errorf("%s: got %+v, %v", tc.token, got, err)
		}
		tc.h.do(request{method: "GET", path: "/v1/whoami", token: tc.token}).want(200)
	}
	h.do(request{method: "GET", path: "/v1/whoami", token: "unknown"}).wantProblem(401, "unauthorized")
	h.do(request{method: "GET", path: "/v1/whoami", token: "none"}).wantProblem(401, "unauthorized")
}

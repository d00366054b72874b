package tokens_test

import (
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/tokens"
	"github.com/svcctl/svcctl/internal/svc"
)

func list(now time.Time) []svc.Token {
	token := func(name, role string, expires time.Time) svc.Token {
		return svc.Token{Name: name, Role: role, Hash: sha256.Sum256([]byte(name)), Expires: expires}
	}
	return []svc.Token{
		token("edge", svc.RoleGateway, time.Time{}), token("soon", svc.RoleGateway, now.Add(time.Minute)),
		token("old", svc.RoleGateway, now), token("ci", svc.RoleDeploy, time.Time{}),
	}
}

func TestHas(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for bearer, want := range map[string]bool{"edge": true, "soon": true, "old": false, "ci": false, "unknown": false, "": false} {
		if got := tokens.Has(list(now), svc.RoleGateway, bearer, now); got != want {
			t.Errorf("%q: %v, want %v", bearer, got, want)
		}
	}
	if !tokens.Has(list(now), svc.RoleDeploy, "ci", now) || tokens.Has(nil, svc.RoleDeploy, "ci", now) {
		t.Error("the token of another role")
	}
}

// TestOnlyGateways: which requests reach the handler behind it.
func TestOnlyGateways(t *testing.T) {
	t.Parallel()
	h := tokens.OnlyGateways(func() []svc.Token { return list(time.Now()) }, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for header, want := range map[string]int{
		"": http.StatusUnauthorized, "Basic edge": http.StatusUnauthorized, "Bearer ci": http.StatusForbidden, "Bearer old": http.StatusForbidden,
		"Bearer edge": http.StatusTeapot,
	} {
		r, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
		r.Header.Set("Authorization", header)
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%q: %d, want %d", header, w.Code, want)
		}
	}
}

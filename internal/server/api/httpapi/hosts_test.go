package httpapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
)

// TestForeignHost: a Host header of another site is rejected before the token is
// checked.
func TestForeignHost(t *testing.T) {
	t.Parallel()
	h := start(t, func(d *httpapi.Deps) {
		d.PublicURL, d.Hosts = "https://deploy.example", []string{"api.internal.example"}
	})
	for host, ok := range map[string]bool{
		"127.0.0.1:8790": true, "[::1]:8790": true, "localhost": true, "svcctl:8790": true, "api.localhost": true, "192.0.2.7": true,
		"deploy.example": true, "Deploy.Example.:443": true, "api.internal.example": true,
		"evil.example": false, "127.0.0.1.evil.example": false, "deploy.example.evil.example:8790": false,
	} {
		for _, path := range []string{"/v1/health", "/metrics", "/v1/projects"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			refused := resp.StatusCode == http.StatusForbidden && strings.Contains(string(body), `"host_not_allowed"`)
			if err != nil || refused == ok {
				t.Errorf("%s %s: %d %s %v", host, path, resp.StatusCode, body, err)
			}
		}
	}
}

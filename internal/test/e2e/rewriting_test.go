//go:build e2e

package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestRewritingProxy: behind a proxy that asks the API under a name of its own, the URLs that
// the API generates are wrong for the client. A pipeline's deploy, with its upload and its polls,
// goes to the address that the client was given.
func TestRewritingProxy(t *testing.T) {
	t.Parallel()
	d := started(t)
	inner, err := url.Parse(d.note.API)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var calls []string
	outer := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(inner)
		r.Out.Host = "inner" // no client can resolve it
		mu.Lock()
		calls = append(calls, r.In.Method+" "+r.In.URL.Path)
		mu.Unlock()
	}})
	t.Cleanup(outer.Close)

	d.project("hello") // needs an admin
	dir := worker(t, helloConfig, map[string]string{"index.js": `export default { fetch() { return new Response("hello") } }`})
	d.env = append(d.env, "SVCCTL_SERVER="+outer.URL, "SVCCTL_DEPLOY_TOKEN="+d.note.DeployToken)
	v := d.deploy(dir, "--version", "v1")
	if a := d.served(v.PreviewURL); a.Body != "hello" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{http.MethodPost + " /v1/projects/hello/versions", http.MethodGet + " /v1/projects/hello/versions/v1"} {
		if !slices.Contains(calls, want) {
			t.Errorf("no %s in %q", want, calls)
		}
	}
	if !slices.ContainsFunc(calls, func(c string) bool { return strings.HasPrefix(c, http.MethodPut+" ") }) {
		t.Errorf("no upload in %q", calls)
	}
}

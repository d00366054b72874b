package gateway_test

import (
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestDomains: own host names lead to production, to a version, to a preview name or to another host, and
// follow production; a name of its own precedes a wildcard, and nothing else is served.
func TestDomains(t *testing.T) { engines(t, testDomains) }

func testDomains(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	for _, v := range []string{"v1", "v2"} {
		b.ready(svc.Ref{Project: "shop", Version: v}, startWorker(t, v).socket)
	}
	b.SetProduction("shop", "v1")
	b.SetPreview("shop", "feature", "v2")
	for _, d := range []svc.DomainRoute{
		{Host: "shop.example.com", Project: "shop"},
		{Host: "beta.example.com", Project: "shop", Target: "v2"},
		{Host: "pr.example.com", Project: "shop", Target: "feature"},
		{Host: "*.example.com", Project: "shop"},
		{Host: "www.example.org", Project: "shop", Redirect: "shop.example.com"},
		{Host: "gone.example.org", Project: "shop", Target: "v9"},
		{Host: "none.example.org", Project: "absent"},
	} {
		b.SetDomain(d)
	}
	serves := func(host, want string) {
		t.Helper()
		got, body := b.get(t, host, "/version")
		if want == "" && (got.StatusCode != http.StatusNotFound || got.Header.Get("Svc-Error") != "route_not_found") || want != "" && body != want {
			t.Errorf("%s: %d %q, want %q", host, got.StatusCode, body, want)
		}
	}
	for host, want := range map[string]string{
		"shop.example.com": "v1", "SHOP.Example.COM.": "v1", "beta.example.com": "v2", "pr.example.com": "v2", "any.example.com": "v1",
		"example.com": "", "a.b.example.com": "", "gone.example.org": "", "none.example.org": "", "example.org": "",
	} {
		serves(host, want)
	}
	b.SetProduction("shop", "v2")
	serves("shop.example.com", "v2")
	serves("any.example.com", "v2")

	got, _ := b.get(t, "www.example.org:8443", "/a/b?c=d")
	if got.StatusCode != http.StatusPermanentRedirect || got.Header.Get("Location") != "http://shop.example.com:8443/a/b?c=d" {
		t.Errorf("a redirect: %d %q", got.StatusCode, got.Header.Get("Location"))
	}
	if !b.Serves("shop.example.com") || !b.Serves("www.example.org") || b.Serves("any.example.com") || b.Serves("gone.example.org") {
		t.Error("a certificate is ordered for a host below a wildcard, or not for a host with a name of its own")
	}
	b.RemoveDomain("shop.example.com")
	serves("shop.example.com", "v2") // the wildcard has it
	b.RemoveDomain("*.example.com")
	serves("shop.example.com", "")
	b.RemoveDomain("www.example.org")
	serves("www.example.org", "")
}

// TestDomainsOfTheServer: what projects have by themselves precedes an own domain.
func TestDomainsOfTheServer(t *testing.T) { engines(t, testDomainsOfTheServer) }

func testDomainsOfTheServer(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(svc.Ref{Project: "shop", Version: "v1"}, startWorker(t, "shop").socket)
	b.ready(svc.Ref{Project: "other", Version: "v1"}, startWorker(t, "other").socket)
	b.SetProduction("shop", "v1")
	b.SetProduction("other", "v1")
	b.SetDomain(svc.DomainRoute{Host: "shop.apps.test", Project: "other"})
	if _, body := b.get(t, "shop.apps.test", "/version"); body != "shop" {
		t.Errorf("%q answers", body)
	}
}

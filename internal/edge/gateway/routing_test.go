package gateway_test

import (
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
)

// spec: [C1.1] [C1.2] [C2.3] [C6.1] [C6.2] [C6.5] [C15.10]
func TestHosts(t *testing.T) { engines(t, testHosts) }

func testHosts(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	v2 := svc.Ref{Project: "shop", Version: "v2"}
	b.ready(shop, always(t, "one"))
	b.ready(v2, always(t, "two"))
	b.SetProduction("shop", "v2")
	for host, want := range map[string]string{
		"v1.shop.apps.test": "one", "V1.SHOP.Apps.Test": "one", "v1.shop.apps.test.": "one", "v1.shop.apps.test:8787": "one",
		"v1.shop.apps.test.:80": "one", "v2.shop.apps.test": "two", "shop.apps.test": "two", "SHOP.apps.test.": "two",
		"v3.shop.apps.test": "404", "x.v1.shop.apps.test": "404", "apps.test": "404", "shop.apps.test.evil": "404",
		"v1.shop.apps.tests": "404", "127.0.0.1:8787": "404", "[::1]:80": "404",
	} {
		c := b.raw(t)
		c.send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
		resp, body := c.answer("GET")
		if resp.StatusCode == http.StatusNotFound {
			body = "404"
		}
		if body != want {
			t.Errorf("%s: %q, want %q", host, body, want)
		}
	}
	b.SetProduction("shop", "")
	if resp, _ := b.get(t, "shop.apps.test", "/"); resp.StatusCode != http.StatusNotFound {
		t.Error(resp.Status)
	}
}

// TestPathSelectors checks that path selectors work only on addresses, localhost and
// the public host of the gateway, so that a path of an app is never captured [D4].
// spec: [C6.6] [C6.8]
func TestPathSelectors(t *testing.T) { engines(t, testPathSelectors) }

func testPathSelectors(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, PublicHost: "public.test"})
	socket := startWorker(t, "v1").socket
	b.ready(shop, socket)
	b.SetProduction("shop", "v1")
	for target, want := range map[string]string{
		"/shop/v1/a//b?c=%2F": "/a//b?c=%2F", "/shop/v1": "/", "/shop/v1?q": "/?q", "/shop": "/", "/shop/": "/",
		"/shop/v2/x": "/v2/x", "/shop?q": "/?q", "/shop/v1/shop/v1": "/shop/v1",
		"/": "", "/other/v1/": "", "/Shop/": "", "//shop/": "",
	} {
		c := b.raw(t)
		c.send("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:8787\r\n\r\n")
		resp, body := c.answer("GET")
		if want == "" {
			if resp.StatusCode != http.StatusNotFound || resp.Header.Get("Deprecation") != "" {
				t.Errorf("%s: %s %v", target, resp.Status, resp.Header)
			}
			continue
		}
		if got := decodeSeen(t, body).URL; got != "http://127.0.0.1:8787"+want || !strings.HasPrefix(resp.Header.Get("Deprecation"), "@") {
			t.Errorf("%s: %s, want %s; %v", target, got, want, resp.Header)
		}
	}
	for _, host := range []string{"v1.shop.apps.test", "shop.apps.test"} {
		resp, body := b.get(t, host, "/shop/v1/x")
		if got := decodeSeen(t, body).URL; !strings.HasSuffix(got, "/shop/v1/x") || resp.Header.Get("Deprecation") != "" {
			t.Errorf("%s: a path of the app was captured: %s", host, got)
		}
	}
	for host, want := range map[string]int{
		"no.apps.test": 404, "apps.test": 404, "elsewhere.test": 404, "localhost.test": 404, "public.test.test": 404, "1.2.3.4.5": 404,
		"localhost": 200, "LOCALHOST.:80": 200, "[::1]:80": 200, "[::1]": 200, "10.1.2.3": 200, "Public.test": 200, "public.test.:8787": 200,
	} {
		c := b.raw(t)
		c.send("GET /shop/v1/x HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
		if resp, _ := c.answer("GET"); resp.StatusCode != want {
			t.Errorf("a path selector on %s: %s, want %d", host, resp.Status, want)
		}
	}
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusArchived})
	if resp, _ := b.get(t, "localhost", "/shop/v1/"); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Deprecation") == "" {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
}

// TestSelectorsDropTheSession: a worker that is called by the dashboard's host name does
// not receive the dashboard's session, and receives the other cookies.
func TestSelectorsDropTheSession(t *testing.T) { engines(t, testSelectorsDropTheSession) }

func testSelectorsDropTheSession(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	for sent, want := range map[string]string{
		"svcctl-session=SECRET": "", "a=1; svcctl-session=SECRET; b=2": "a=1; b=2", "__Host-svcctl-session=SECRET;a=1": "a=1",
		"a=1; my-svcctl-session=2": "a=1; my-svcctl-session=2", "a=1;b=2": "a=1;b=2",
	} {
		c := b.raw(t)
		c.send("GET /shop/v1/ HTTP/1.1\r\nHost: localhost:8787\r\nCookie: " + sent + "\r\n\r\n")
		_, body := c.answer("GET")
		if got := decodeSeen(t, body).Headers["cookie"]; got != want {
			t.Errorf("%q: the worker received %q, want %q", sent, got, want)
		}
	}
}

// spec: [C6.10]
func TestVerifyProbe(t *testing.T) { engines(t, testVerifyProbe) }

func testVerifyProbe(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, VerifySecret: "probe"})
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusDeploying, Endpoint: svc.Endpoint{Socket: startWorker(t, "v1").socket}})
	for secret, want := range map[string]int{"probe": 200, "prob": 503, "probe2": 503, "": 503} {
		req := request(t, http.MethodGet, "v1.shop.apps.test", "/", nil)
		req.Header.Set(gateway.VerifyHeader, secret)
		resp, body := b.do(t, req)
		if resp.StatusCode != want {
			t.Errorf("%q: %s", secret, resp.Status)
		}
		if strings.Contains(strings.ToLower(body), "verify") {
			t.Errorf("the worker received the header of the probe: %s", body)
		}
	}
	open := start(t, gateway.Config{Engine: engine})
	open.SetVersion(shop, svc.Upstream{Status: svc.StatusDeploying, Endpoint: svc.Endpoint{Socket: "/nowhere"}})
	req := request(t, http.MethodGet, "v1.shop.apps.test", "/", nil)
	req.Header.Set(gateway.VerifyHeader, "")
	if resp, _ := open.do(t, req); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("an empty secret reached the version: %s", resp.Status)
	}
}

// A process that knows the secret reaches a version by its name, with any host.
func TestRouteHeader(t *testing.T) { engines(t, testRouteHeader) }

func testRouteHeader(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, VerifySecret: "probe"})
	b.ready(shop, startWorker(t, "v1").socket)
	for _, tc := range []struct {
		route, secret, host string
		want                int
	}{
		{"shop/v1", "probe", "localhost:3000", 200},
		{"shop/v1", "probe", "v9.other.apps.test", 200},
		{"shop/v2", "probe", "v1.shop.apps.test", 404},
		{"shop", "probe", "v1.shop.apps.test", 404},
		{"shop/v1", "guess", "localhost:3000", 404},
		{"shop/v2", "guess", "v1.shop.apps.test", 200},
		{"shop/v1", "", "localhost:3000", 404},
	} {
		req := request(t, http.MethodGet, tc.host, "/a?b", nil)
		req.Header.Set(gateway.RouteHeader, tc.route)
		req.Header.Set(gateway.VerifyHeader, tc.secret)
		resp, body := b.do(t, req)
		if resp.StatusCode != tc.want {
			t.Errorf("%+v: %s", tc, resp.Status)
		}
		if resp.StatusCode == http.StatusOK && (decodeSeen(t, body).URL != "http://"+tc.host+"/a?b" || strings.Contains(body, "probe")) {
			t.Errorf("%+v: the worker sees %s", tc, body)
		}
	}
}

// spec: [C11.8]
func TestRoutesAndLastRequests(t *testing.T) { engines(t, testRoutesAndLastRequests) }

func testRoutesAndLastRequests(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	state := svc.Upstream{Status: svc.StatusReady, Endpoint: svc.Endpoint{Socket: always(t, "x"), Port: 1234, PID: 7, StartedAt: time.Unix(1000, 0)}}
	b.SetVersion(shop, state)
	b.SetVersion(svc.Ref{Project: "shop", Version: "v0"}, svc.Upstream{Status: svc.StatusArchived})
	b.SetProduction("shop", "v1")
	b.SetProduction("other", "")
	if got := b.LastRequests(); len(got) != 0 {
		t.Errorf("before the first request: %v", got)
	}
	before := time.Now()
	b.get(t, "shop.apps.test", "/")
	for b.Inflight() > 0 { // the claim ends a little after the client has its response
		runtime.Gosched()
	}
	rows := b.Routes()
	if at := rows[0].LastRequestAt; at.Before(before.Add(-time.Second)) || at.After(time.Now()) {
		t.Errorf("last request at %v", at)
	}
	rows[0].LastRequestAt = time.Time{}
	want := []svc.Route{
		{Host: "shop.apps.test", Role: svc.RoleProduction, Ref: shop, Upstream: state},
		{Host: "v0.shop.apps.test", Role: svc.RolePreview, Ref: svc.Ref{Project: "shop", Version: "v0"}, Upstream: svc.Upstream{Status: svc.StatusArchived}},
		{Host: "v1.shop.apps.test", Role: svc.RolePreview, Ref: shop, Upstream: state},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	if got := b.LastRequests(); len(got) != 1 || got[shop].Before(before.Add(-time.Second)) {
		t.Errorf("%v", got)
	}
	if got := b.LastRequests(); len(got) != 0 {
		t.Errorf("no request since the last call: %v", got)
	}
	// A change of the state keeps the statistics.
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusArchived})
	if b.Routes()[0].LastRequestAt.IsZero() {
		t.Error("the time of the last request is lost")
	}
}

package gateway_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/edge/gateway"
)

// seen is a request as testdata/worker.js received it.
type seen struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	CF      map[string]any    `json:"cf"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func decodeSeen(t *testing.T, body string) seen {
	t.Helper()
	var s seen
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return s
}

// spec: [C6.6]
func TestForwardedRequest(t *testing.T) { engines(t, testForwardedRequest) }

func testForwardedRequest(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, VerifySecret: "probe", TrustedProxies: []netip.Prefix{}})
	b.ready(shop, startWorker(t, "v1").socket)
	c := b.raw(t)
	c.send("POST /a/../b//c%2F%20?q=%00&r HTTP/1.1\r\nHost: V1.Shop.apps.test:80\r\n" +
		"Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\nProxy-Authorization: x\r\n" +
		"X-Forwarded-For: 1.1.1.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil\r\nForwarded: for=1.1.1.1\r\n" +
		"CF-Connecting-IP: 1.1.1.1\r\nX-Svc-Proto: https\r\nX-SVC-Cf: {bad\r\nx-svc-binding: kv\r\nX-Svc-Verify: probe\r\n" +
		"X-Request-Id: bad id\r\ntraceparent: 00-0-0-00\r\ntracestate: a=b\r\n" +
		"X-Own: kept\r\nCookie: a=1\r\nContent-Length: 4\r\n\r\nbody")
	resp, body := c.answer("POST")
	got := decodeSeen(t, body)
	id := resp.Header.Get("X-Request-Id")
	for name, form := range map[string]string{"x-request-id": `^[0-9a-f]{32}$`, "traceparent": `^00-[0-9a-f]{32}-[0-9a-f]{16}-00$`} {
		if v := got.Headers[name]; !regexp.MustCompile(form).MatchString(v) || !strings.Contains(v, id) {
			t.Errorf("%s: %q, and the answer's id is %q", name, v, id)
		}
		delete(got.Headers, name)
	}
	want := seen{
		Method: "POST", URL: "http://v1.shop.apps.test/a/../b//c%2F%20?q=%00&r", Body: "body",
		CF: everyCF(),
		Headers: map[string]string{
			"host": "v1.shop.apps.test", "content-length": "4", "x-own": "kept", "cookie": "a=1",
			"x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "http", "x-forwarded-host": "v1.shop.apps.test",
			"cf-connecting-ip": "127.0.0.1",
		},
	}
	// The worker has parsed the URL; its path must be the client's bytes.
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if v := resp.Header.Get("Svc-Version"); v != "v1" {
		t.Errorf("Svc-Version: %q", v)
	}
}

// TestHostsHaveOneSpelling: workers see a host in its normal form, however the client writes it.
func TestHostsHaveOneSpelling(t *testing.T) { engines(t, testHostsHaveOneSpelling) }

func testHostsHaveOneSpelling(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	for host, want := range map[string]string{
		"V1.SHOP.Apps.test:80": "http://v1.shop.apps.test/a", "v1.shop.apps.test:": "http://v1.shop.apps.test/a", "v1.shop.apps.test:443": "http://v1.shop.apps.test:443/a",
		"v1.shop.apps.test:443\r\nX-Forwarded-Proto: https": "https://v1.shop.apps.test/a", "v1.shop.apps.test:80\r\nX-Forwarded-Proto: https": "https://v1.shop.apps.test:80/a",
		"v1.shop.apps.test\r\nX-Forwarded-Host: Shop.Example:": "http://v1.shop.apps.test/a",
	} {
		c := b.raw(t)
		c.send("GET /a HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
		_, body := c.answer("GET")
		got := decodeSeen(t, body)
		forwarded := got.Headers["host"]
		if strings.Contains(host, "Example") {
			forwarded = "shop.example"
		}
		if got.URL != want || got.Headers["x-forwarded-host"] != forwarded {
			t.Errorf("%q: %s %v", host, got.URL, got.Headers)
		}
	}
	c := b.raw(t)
	c.send("GET HTTP://v1.shop.apps.test/a HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
	if _, body := c.answer("GET"); decodeSeen(t, body).URL != "http://v1.shop.apps.test/a" {
		t.Error(body)
	}
}

// TestHeadersOfCloudflare: a visitor cannot claim what Cloudflare, or a proxy, says of a request.
func TestHeadersOfCloudflare(t *testing.T) { engines(t, testHeadersOfCloudflare) }

func testHeadersOfCloudflare(t *testing.T, engine gateway.Engine) {
	claims := []string{
		"CF-Worker", "CF-EW-Via", "CF-Visitor", "CF-Ray", "CF-Blob", "CF-Connecting-IPv6", "CF-Pseudo-IPv4", "CF-Bot-Score", "Cf-Access-Authenticated-User-Email", "Cf-Access-Jwt-Assertion",
		"True-Client-IP", "X-Real-IP", "X-Client-IP", "X-Forwarded-Port", "X-Forwarded-Prefix",
	}
	for name, tc := range map[string]struct {
		proxies []netip.Prefix
		allowed func(name string) bool
	}{
		"visitor":       {[]netip.Prefix{}, func(string) bool { return false }},
		"local proxy":   {nil, func(name string) bool { return !strings.HasPrefix(strings.ToLower(name), "cf-") }},
		"trusted proxy": {[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, func(string) bool { return true }},
	} {
		b := start(t, gateway.Config{Engine: engine, TrustedProxies: tc.proxies, LocationHeaders: tc.proxies != nil})
		b.ready(shop, startWorker(t, "v1").socket)
		req := request(t, http.MethodGet, "v1.shop.apps.test", "/", nil)
		for _, claim := range append(claims, "CFO", "Cf_x") {
			req.Header.Set(claim, "claimed")
		}
		_, body := b.do(t, req)
		got := decodeSeen(t, body).Headers
		for _, claim := range claims {
			if has := got[strings.ToLower(claim)] != ""; has != tc.allowed(claim) {
				t.Errorf("%s: %s reaches the worker: %v", name, claim, has)
			}
		}
		if got["cfo"] == "" || got["cf_x"] == "" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTrustedProxiesChange(t *testing.T) { engines(t, testTrustedProxiesChange) }

// testTrustedProxiesChange: connections that begin after a change follow it.
func testTrustedProxiesChange(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	for _, tc := range []struct {
		proxies []netip.Prefix
		want    string
	}{{nil, "https://"}, {[]netip.Prefix{}, "http://"}, {[]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, "https://"}} {
		b.SetTrustedProxies(tc.proxies, tc.proxies != nil)
		b.client.CloseIdleConnections()
		req := request(t, http.MethodGet, "v1.shop.apps.test", "/", nil)
		req.Header.Set("X-Forwarded-Proto", "https")
		if _, body := b.do(t, req); !strings.HasPrefix(decodeSeen(t, body).URL, tc.want) {
			t.Errorf("with %v: %s", tc.proxies, body)
		}
	}
}

func TestForwardedByTrustedProxy(t *testing.T) { engines(t, testForwardedByTrustedProxy) }

func testForwardedByTrustedProxy(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	req := request(t, http.MethodGet, "v1.shop.apps.test", "/", nil)
	for k, v := range map[string]string{
		"X-Forwarded-For": "8.8.8.8, 2001:db8::7, 127.0.0.9", "X-Forwarded-Proto": "HTTPS", "X-Forwarded-Host": "shop.example",
		"Forwarded": "for=2001:db8::7", "X-Request-Id": "ci-run/42",
		"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "a=b",
	} {
		req.Header.Set(k, v)
	}
	resp, body := b.do(t, req)
	got := decodeSeen(t, body)
	if !strings.HasPrefix(got.URL, "https://") {
		t.Errorf("url: %s", got.URL)
	}
	for k, want := range map[string]string{
		"x-forwarded-for": "8.8.8.8, 2001:db8::7, 127.0.0.9, 127.0.0.1", "x-forwarded-proto": "https", "x-forwarded-host": "shop.example",
		"cf-connecting-ip": "2001:db8::7", "forwarded": "for=2001:db8::7", "x-request-id": "ci-run/42", "tracestate": "a=b",
	} {
		if got.Headers[k] != want {
			t.Errorf("%s: %q, want %q", k, got.Headers[k], want)
		}
	}
	// The trace is the client's, the parent in it is the request.
	parent := got.Headers["traceparent"]
	if !regexp.MustCompile(`^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$`).MatchString(parent) || strings.Contains(parent, "b7ad6b7169203331") {
		t.Errorf("traceparent: %q", parent)
	}
	if id := resp.Header.Get("X-Request-Id"); id != "ci-run/42" {
		t.Errorf("the answer's X-Request-Id: %q", id)
	}
}

func TestWorkersResponsePassesUnchanged(t *testing.T) { engines(t, testWorkersResponsePassesUnchanged) }

func testWorkersResponsePassesUnchanged(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	resp, body := b.get(t, "v1.shop.apps.test", "/headers")
	if body != "own" || resp.Header.Get("Svc-Version") != "v1" || resp.Header.Get("Svc-Error") != "" || resp.Header.Get("X-Own") != "1" {
		t.Errorf("%q %v", body, resp.Header)
	}
	if diff := cmp.Diff([]string{"a=1", "b=2"}, resp.Header["Set-Cookie"]); diff != "" {
		t.Error(diff)
	}
	for _, code := range []string{"204", "304", "404", "500", "503"} {
		c := b.raw(t)
		c.send("GET /status?code=" + code + " HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
		resp, body := c.answer("GET")
		if !strings.HasPrefix(resp.Status, code) || resp.Header.Get("X-Own") != "1" || resp.Header.Get("Svc-Error") != "" || body != "" {
			t.Errorf("%s: %s %v %q", code, resp.Status, resp.Header, body)
		}
		c.send("HEAD /bytes?size=5 HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
		if resp, body := c.answer("HEAD"); resp.ContentLength != 5 || body != "" {
			t.Errorf("HEAD: %v %q", resp.Header, body)
		}
	}
}

func TestMethodsAndVersions(t *testing.T) { engines(t, testMethodsAndVersions) }

func testMethodsAndVersions(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"} {
		_, body := b.do(t, request(t, method, "v1.shop.apps.test", "/", nil))
		if got := decodeSeen(t, body); got.Method != method {
			t.Errorf("%s arrives as %s", method, got.Method)
		}
	}
	c := b.raw(t) // HTTP/1.0: no chunks, and the connection ends
	c.send("POST /raw HTTP/1.0\r\nHost: v1.shop.apps.test\r\nContent-Length: 3\r\n\r\nabc")
	if resp, body := c.answer("POST"); body != "abc" || len(resp.TransferEncoding) > 0 {
		t.Errorf("%q %v", body, resp.TransferEncoding)
	}
	c.ended()
	c = b.raw(t)
	c.send("GET /bytes?size=3 HTTP/1.0\r\nHost: v1.shop.apps.test\r\nConnection: keep-alive\r\n\r\n")
	if resp, _ := c.answer("GET"); resp.Header.Get("Connection") != "keep-alive" {
		t.Errorf("%v", resp.Header)
	}
	c.send("GET /bytes?size=4 HTTP/1.1\r\nHost: v1.shop.apps.test\r\nConnection: close\r\n\r\n")
	if _, body := c.answer("GET"); body != "aaaa" {
		t.Error(body)
	}
	c.ended()
}

func TestPipelining(t *testing.T) { engines(t, testPipelining) }

func testPipelining(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	c := b.raw(t)
	const host = " HTTP/1.1\r\nHost: v1.shop.apps.test\r\n"
	c.send("POST /raw" + host + "Content-Length: 3\r\n\r\nabc" +
		"POST /raw" + host + "Transfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\nTrailer: x\r\n\r\n" +
		"GET /bytes?size=2" + host + "\r\n" + "GET /nothing HTTP/1.1\r\nHost: other.apps.test\r\n\r\n" + "GET /bytes?size=1" + host + "\r\n")
	for i, want := range []string{"abc", "def", "aa", "", "a"} {
		resp, body := c.answer("GET")
		if want == "" && resp.StatusCode == http.StatusNotFound {
			continue
		}
		if body != want {
			t.Errorf("answer %d: %q", i, body)
		}
	}
}

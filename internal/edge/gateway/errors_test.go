package gateway_test

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestErrorAnswers compares the gateway's own responses, each as JSON and as HTML,
// with testdata/errors.golden; SVC_UPDATE_GOLDEN=1 writes that file.
// spec: [C6.9] [C6.10] [C7.18]
func TestErrorAnswers(t *testing.T) { engines(t, testErrorAnswers) }

func testErrorAnswers(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, VerifySecret: "probe"})
	for _, status := range svc.Statuses() {
		b.SetVersion(svc.Ref{Project: "shop", Version: strings.ReplaceAll(string(status), "_", "-")}, svc.Upstream{Status: status})
	}
	b.SetProduction("shop", "archived")
	b.SetProduction("empty", "")
	var got bytes.Buffer
	hosts := []string{"empty.apps.test", "unknown.apps.test", "v1.unknown.apps.test", "a.b.c.apps.test", "apps.test", "elsewhere.test", "shop.apps.test"}
	for _, r := range b.Routes() {
		if r.Role == svc.RolePreview {
			hosts = append(hosts, r.Host)
		}
	}
	for _, host := range hosts {
		for _, accept := range []string{"*/*", "text/html,application/xhtml+xml;q=0.9"} {
			req := request(t, http.MethodGet, host, "/a/b", nil)
			req.Header.Set("Accept", accept)
			req.Header.Set("X-Request-Id", "the-id")
			resp, body := b.do(t, req)
			fmt.Fprintf(&got, "== %s, %s\n%s\n", host, strings.SplitN(accept, ",", 2)[0], resp.Status)
			for _, k := range slices.Sorted(mapKeys(resp.Header)) {
				fmt.Fprintf(&got, "%s: %s\n", k, resp.Header.Get(k))
			}
			fmt.Fprintf(&got, "\n%s\n", body)
		}
	}
	svctest.Golden(t, "testdata/errors.golden", got.String())
}

func mapKeys(h http.Header) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range h {
			if !yield(k) {
				return
			}
		}
	}
}

func TestErrorOfHead(t *testing.T) { engines(t, testErrorOfHead) }

func testErrorOfHead(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	c := b.raw(t)
	c.send("HEAD / HTTP/1.1\r\nHost: no.apps.test\r\n\r\n")
	if resp, body := c.answer("HEAD"); resp.StatusCode != http.StatusNotFound || body != "" || resp.ContentLength <= 0 {
		t.Errorf("%s %v %q", resp.Status, resp.Header, body)
	}
	c.send("POST / HTTP/1.1\r\nHost: no.apps.test\r\nContent-Length: 5\r\n\r\nhello" +
		"GET / HTTP/1.1\r\nHost: no.apps.test\r\n\r\n")
	for range 2 {
		if resp, _ := c.answer("POST"); resp.StatusCode != http.StatusNotFound {
			t.Error(resp.Status)
		}
	}
}

// TestBadRequests checks that a request that cannot be parsed is refused and that
// its connection ends, except where net/http parses it.
// spec: [C1.14]
func TestBadRequests(t *testing.T) { engines(t, testBadRequests) }

func testBadRequests(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, MaxHeader: 8 << 10})
	b.ready(shop, startWorker(t, "v1").socket)
	const host = "Host: v1.shop.apps.test\r\n"
	for name, tc := range map[string]struct {
		request string
		want    int
		code    string
		std     int // status with net/http, 0 for the same
	}{
		"no host":         {"GET / HTTP/1.1\r\n\r\n", 400, "bad_request", 0},
		"two hosts":       {"GET / HTTP/1.1\r\n" + host + "Host: other.apps.test\r\n\r\n", 400, "bad_request", 0},
		"other host":      {"GET http://other.apps.test/ HTTP/1.1\r\n" + host + "\r\n", 400, "bad_request", 404},
		"userinfo":        {"GET / HTTP/1.1\r\nHost: a@v1.shop.apps.test\r\n\r\n", 400, "bad_request", 0},
		"control":         {"GET / HTTP/1.1\r\nHost: v1.shop.apps.test\x01\r\n\r\n", 400, "bad_request", 0},
		"both framings":   {"POST / HTTP/1.1\r\n" + host + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "bad_request", 200},
		"bare line feed":  {"GET / HTTP/1.1\n" + host + "\r\n", 400, "bad_request", 200},
		"folded line":     {"GET / HTTP/1.1\r\n" + host + "X: a\r\n b\r\n\r\n", 400, "bad_request", 200},
		"two lengths":     {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 400, "bad_request", 200},
		"other coding":    {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", 501, "bad_request", 0},
		"http/2":          {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "bad_request", 0},
		"port of letters": {"GET / HTTP/1.1\r\nHost: v1.shop.apps.test:http\r\n\r\n", 400, "bad_request", 0},
		"large port":      {"GET / HTTP/1.1\r\nHost: v1.shop.apps.test:65536\r\n\r\n", 400, "bad_request", 0},
		"two ports":       {"GET / HTTP/1.1\r\nHost: v1.shop.apps.test:80:80\r\n\r\n", 400, "bad_request", 0},
		"connect":         {"CONNECT v1.shop.apps.test:80 HTTP/1.1\r\nHost: v1.shop.apps.test:80\r\n\r\n", 405, "bad_request", 0},
		"connect a path":  {"CONNECT / HTTP/1.1\r\n" + host + "\r\n", 405, "bad_request", 0},
		"tls":             {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n", 400, "bad_request", 0},
		"large head":      {"GET / HTTP/1.1\r\n" + host + "X: " + strings.Repeat("a", 9<<10) + "\r\n\r\n", 431, "header_too_large", 0},
		"endless head":    {"GET / HTTP/1.1\r\n" + host + "X: " + strings.Repeat("a", 40<<10), 431, "header_too_large", 0},
		"endless target":  {"GET /" + strings.Repeat("a", 40<<10), 431, "header_too_large", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := b.raw(t)
			c.send(tc.request)
			resp, body := c.answer("GET")
			if tc.std != 0 && engine == gateway.EngineStd {
				if resp.StatusCode != tc.std {
					t.Errorf("%s %v %s", resp.Status, resp.Header, body)
				}
				return
			}
			if resp.StatusCode != tc.want || resp.Header.Get("Svc-Error") != tc.code || !resp.Close {
				t.Errorf("%s %v %s", resp.Status, resp.Header, body)
			}
			if allow := resp.Header.Get("Allow"); (tc.want == 405) != (allow != "") {
				t.Errorf("Allow: %q", allow)
			}
			if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(resp.Header.Get("X-Request-Id")) {
				t.Errorf("%v", resp.Header)
			}
			if strings.Contains(body, "apps.test") {
				t.Errorf("the answer repeats the request: %s", body)
			}
			c.ended()
		})
	}
}

// TestBadChunks checks that a request with invalid chunks is answered with 400, that
// the chunks never reach the worker as the end of a body, and that the bytes behind
// them are not parsed as a request.
func TestBadChunks(t *testing.T) { engines(t, testBadChunks) }

func testBadChunks(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	for _, chunks := range []string{
		"zz\r\n", "3\r\nabcd\r\n0\r\n\r\n", "3\nabc\r\n0\r\n\r\n", "1\r\na\r\n0x0\r\n\r\n", "ffffffffffffffff1\r\n", "-1\r\n", "\r\n",
		"0\r\nno colon\r\n\r\n",
	} {
		c := b.raw(t)
		c.send("POST / HTTP/1.1\r\nHost: v1.shop.apps.test\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks +
			"GET /version HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
		resp, body := c.answer("POST")
		if resp.StatusCode != http.StatusBadRequest || resp.Header.Get("Svc-Error") != "bad_request" || !resp.Close || !strings.Contains(body, "chunk") && !strings.Contains(body, "header line") {
			t.Errorf("%q: %s %v %s", chunks, resp.Status, resp.Header, body)
		}
		c.ended()
	}
}

func TestRequestHeadInPieces(t *testing.T) { engines(t, testRequestHeadInPieces) }

func testRequestHeadInPieces(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	c := b.raw(t)
	for _, piece := range []string{"GET /ver", "sion HT", "TP/1.1\r", "\nHost: v1.shop", ".apps.test\r\nX: " + strings.Repeat("a", 60000), "\r\n\r", "\n"} {
		c.send(piece)
	}
	if _, body := c.answer("GET"); body != "v1" {
		t.Error(body)
	}
}

//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// recorder is a worker that stores the requests it has received, and answers with
// its view of the current one.
const recorder = `
const seen = []
export default {
  async fetch(req, env) {
    const body = await req.text()
    seen.push(new URL(req.url).pathname)
    return Response.json({ version: env.PROJECT_ID + '/' + env.VERSION_ID, url: req.url, body, seen, cf: req.cf ?? null, headers: Object.fromEntries(req.headers) })
  }
}`

type testimony struct {
	Version, URL, Body string
	Seen               []string
	CF                 any
	Headers            map[string]string
}

// withRecorder starts a daemon with two projects, the versions shop/v1 and
// other/v1 of which are ready, one that failed and one that waits.
func withRecorder(t *testing.T) *daemon {
	t.Helper()
	d := started(t, "SVC_ORCH_WORKERS=2", "SVC_ARTIFACT_WAIT=1h")
	bundle := script(t, recorder)
	for _, project := range []string{"shop", "other"} {
		d.project(project)
		d.push(project, api.CreateVersion{ID: "v1"}, bundle)
		if v := d.ended(project, "v1"); v.Status != api.VersionStatusReady {
			t.Fatal(v.Error)
		}
	}
	d.push("shop", api.CreateVersion{ID: "broken"}, []byte("no bundle"))
	d.ended("shop", "broken")
	d.accept("shop", api.CreateVersion{ID: "waits"})
	return d
}

// send writes bytes to the gateway and reads every answer until it closes the
// connection.
func (d *daemon) send(bytes string) []answer {
	d.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.note.Gateway, "http://"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(svctest.Patience)); err != nil {
		d.t.Fatal(err)
	}
	if _, err := io.WriteString(conn, bytes); err != nil {
		d.t.Fatal(err)
	}
	var answers []answer
	for r := bufio.NewReader(conn); ; {
		if _, err := r.Peek(1); err != nil {
			if timeout, ok := err.(net.Error); ok && timeout.Timeout() { //nolint:errorlint // nothing wraps it
				d.t.Errorf("the gateway did not close the connection after %q", bytes)
			}
			return answers
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			d.t.Fatalf("no HTTP answer to %q: %v", bytes, err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			d.t.Logf("the answer to %q was cut short: %v", bytes, err)
		}
		answers = append(answers, answer{resp.StatusCode, resp.Header, string(body)})
	}
}

// host is a request line and a Host line, and the version that must answer.
type host struct {
	request string
	status  int
	who     string // the version that answers, or Svc-Error
}

func hosts() map[string]host {
	get := func(name string, status int, who string) host {
		return host{"GET / HTTP/1.1\r\nHost: " + name, status, who}
	}
	long := strings.Repeat("a", 63)
	return map[string]host{
		"plain":            get("v1.shop.e2e.test", 200, "shop/v1"),
		"upper case":       get("V1.SHOP.E2E.TEST", 200, "shop/v1"),
		"trailing dot":     get("v1.shop.e2e.test.", 200, "shop/v1"),
		"port":             get("v1.shop.e2e.test:80", 200, "shop/v1"),
		"dot and port":     get("v1.shop.e2e.test.:65535", 200, "shop/v1"),
		"production":       get("ShOp.e2e.test.:1", 200, "shop/v1"),
		"other project":    get("v1.other.e2e.test", 200, "other/v1"),
		"same in absolute": {"GET http://v1.shop.e2e.test/ HTTP/1.1\r\nHost: v1.shop.e2e.test", 200, "shop/v1"},
		"http 1.0":         {"GET / HTTP/1.0\r\nHost: v1.shop.e2e.test", 200, "shop/v1"},

		"missing":           {"GET / HTTP/1.1\r\nX-Host: v1.shop.e2e.test", 400, "bad_request"},
		"missing in 1.0":    {"GET / HTTP/1.0\r\nX-Host: v1.shop.e2e.test", 400, "bad_request"},
		"empty":             get("", 400, "bad_request"),
		"two":               get("v1.shop.e2e.test\r\nHost: v1.other.e2e.test", 400, "bad_request"),
		"twice the same":    get("v1.shop.e2e.test\r\nhost: v1.shop.e2e.test", 400, "bad_request"),
		"list":              get("v1.shop.e2e.test, v1.other.e2e.test", 400, "bad_request"),
		"folded":            get("v1.shop.e2e.test\r\n .evil.test", 400, "bad_request"),
		"space before":      {"GET / HTTP/1.1\r\nHost : v1.shop.e2e.test", 400, "bad_request"},
		"other absolute":    {"GET http://v1.other.e2e.test/ HTTP/1.1\r\nHost: v1.shop.e2e.test", 400, "bad_request"},
		"absolute user":     {"GET http://v1.shop.e2e.test@v1.other.e2e.test/ HTTP/1.1\r\nHost: v1.other.e2e.test", 400, "bad_request"},
		"absolute alone":    {"GET http://v1.shop.e2e.test/ HTTP/1.1\r\nX: y", 400, "bad_request"},
		"other scheme":      {"GET ftp://v1.shop.e2e.test/ HTTP/1.1\r\nHost: v1.shop.e2e.test", 400, "bad_request"},
		"connect":           {"CONNECT v1.shop.e2e.test:80 HTTP/1.1\r\nHost: v1.shop.e2e.test", 405, "bad_request"},
		"userinfo":          get("v1.shop.e2e.test@v1.other.e2e.test", 400, "bad_request"),
		"userinfo port":     get("v1.shop.e2e.test:80@evil.test", 400, "bad_request"),
		"path":              get("v1.shop.e2e.test/../x", 400, "bad_request"),
		"query":             get("v1.shop.e2e.test?x", 400, "bad_request"),
		"fragment":          get("v1.shop.e2e.test#x", 400, "bad_request"),
		"backslash":         get(`v1.shop.e2e.test\.evil.test`, 400, "bad_request"),
		"percent":           get("v1.shop%2ee2e.test", 400, "bad_request"),
		"space":             get("v1.shop.e2e.test evil", 400, "bad_request"),
		"tab":               get("v1.shop.\te2e.test", 400, "bad_request"),
		"nul":               get("v1.shop.e2e.test\x00.evil.test", 400, "bad_request"),
		"control":           get("v1.shop.e2e.test\x01", 400, "bad_request"),
		"delete":            get("v1.shop.e2e.test\x7f", 400, "bad_request"),
		"carriage return":   get("v1.shop.e2e.test\rX: y", 400, "bad_request"),
		"not ascii":         get("v1.shop.e2e.tést", 400, "bad_request"),
		"full-width":        get("v1．shop.e2e.test", 400, "bad_request"),
		"very long":         get(strings.Repeat(long+".", 5)+"e2e.test", 400, "bad_request"),
		"as long as may be": get(long+"."+long+".e2e.test", 404, "route_not_found"),

		"address":        get("127.0.0.1", 404, "route_not_found"),
		"address, port":  get(strings.Repeat("0", 3)+"127.0.0.1:8787", 404, "route_not_found"),
		"ipv6":           get("[::1]:8787", 404, "route_not_found"),
		"localhost":      get("localhost", 404, "route_not_found"),
		"base domain":    get("e2e.test", 404, "route_not_found"),
		"dot":            get(".e2e.test", 404, "route_not_found"),
		"dots":           get("v1..shop.e2e.test", 404, "route_not_found"),
		"two dots":       get("v1.shop.e2e.test..", 404, "route_not_found"),
		"deeper":         get("x.v1.shop.e2e.test", 404, "route_not_found"),
		"suffix":         get("v1.shop.e2e.test.evil.test", 404, "route_not_found"),
		"prefix":         get("evil-v1.shop.e2e.test", 404, "route_not_found"),
		"longer domain":  get("v1.shop.e2e.testing", 404, "route_not_found"),
		"glued domain":   get("v1.shop.xe2e.test", 404, "route_not_found"),
		"other's":        get("waits.other.e2e.test", 404, "route_not_found"),
		"unknown":        get("v2.shop.e2e.test", 404, "route_not_found"),
		"no project":     get("v1.unknown.e2e.test", 404, "route_not_found"),
		"underscore":     get("v1_shop.e2e.test", 404, "route_not_found"),
		"double dash":    get("v1--shop.e2e.test", 404, "route_not_found"),
		"failed":         get("broken.shop.e2e.test", 503, "version_failed"),
		"not ready":      get("waits.shop.e2e.test", 503, "version_not_ready"),
		"not ready, dot": get("WAITS.shop.e2e.test.:80", 503, "version_not_ready"),
		"forwarded":      get("v1.other.e2e.test\r\nX-Forwarded-Host: v1.shop.e2e.test\r\nForwarded: host=v1.shop.e2e.test", 200, "other/v1"),
		"probe, guessed": get("waits.shop.e2e.test\r\nX-Svc-Verify: guessed", 503, "version_not_ready"),
	}
}

// TestHostTricks sends the gateway host names that are malformed, unusual, or those
// of another server.
// spec: [C6.5] [C6.10]
func TestHostTricks(t *testing.T) {
	t.Parallel()
	d := withRecorder(t)
	t.Run("each", func(t *testing.T) {
		for name, h := range hosts() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d := d.on(t)
				got := d.send(h.request + "\r\nConnection: close\r\n\r\n")
				if len(got) != 1 {
					t.Fatalf("%d answers", len(got))
				}
				a := got[0]
				var w testimony
				_ = json.Unmarshal([]byte(a.Body), &w) // or it is a problem
				if who := w.Version + a.Header.Get("Svc-Error"); a.Status != h.status || who != h.who {
					t.Errorf("%d from %q, want %d from %q\n%s", a.Status, who, h.status, h.who, a.Body)
				}
				if a.Status != 200 && (a.Header.Get("Content-Type") != api.ProblemContentType || a.Header.Get("X-Request-Id") == "") {
					t.Errorf("not a problem: %v", a.Header)
				}
			})
		}
	})
	d.livesOn()
}

// TestPathSelectors sends path selectors to an address, where they select, and to the
// base domain, where a path belongs to the app [D4].
// spec: [C6.6] [C6.8]
func TestPathSelectors(t *testing.T) {
	t.Parallel()
	d := withRecorder(t)
	for _, tt := range []struct{ host, path, url, who string }{
		{"127.0.0.1", "/shop/a?b", "/a?b", "shop/v1"},
		{"127.0.0.1", "/other/v1/a", "/a", "other/v1"},
		{"localhost:1", "/shop", "/", "shop/v1"},
		{"v1.shop.e2e.test", "/other/v1/a", "/other/v1/a", "shop/v1"},
		{"e2e.test", "/shop/", "", "route_not_found"},
		{"nope.e2e.test", "/shop/", "", "route_not_found"},
		{"127.0.0.1", "/SHOP/", "", "route_not_found"},
		{"127.0.0.1", "//shop/", "", "route_not_found"},
		{"127.0.0.1", "/%73hop/", "", "route_not_found"},
		{"127.0.0.1", "/nope/", "", "route_not_found"},
		{"127.0.0.1", "/shop/broken/x", "", "version_failed"},
		{"127.0.0.1", "/shop/waits", "", "version_not_ready"},
	} {
		a := d.send(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", tt.path, tt.host))[0]
		var w testimony
		_ = json.Unmarshal([]byte(a.Body), &w)
		if who := w.Version + a.Header.Get("Svc-Error"); who != tt.who || !strings.HasSuffix(w.URL, tt.url) {
			t.Errorf("%s%s: %q saw %q, want %q and %q", tt.host, tt.path, who, w.URL, tt.who, tt.url)
		}
		selected := tt.who != "route_not_found" && !strings.HasSuffix(tt.host, ".test")
		if got := a.Header.Get("Deprecation"); (got != "") != selected {
			t.Errorf("%s%s: Deprecation %q", tt.host, tt.path, got)
		}
	}
}

const smuggled = "GET /smuggled HTTP/1.1\r\nHost: v1.shop.e2e.test\r\n\r\n"

// smuggling holds what a client may send to hide a second request in a first one,
// by the status that must answer the first; 0 for no answer or any error.
func smuggling() map[string]struct {
	bytes string
	want  int
} {
	const post = "POST /front HTTP/1.1\r\nHost: v1.shop.e2e.test\r\n"
	chunked := post + "Transfer-Encoding: chunked\r\n\r\n"
	length := fmt.Sprintf("Content-Length: %d\r\n", len(smuggled))
	type attack = struct {
		bytes string
		want  int
	}
	return map[string]attack{
		"length and chunks":      {post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, 400},
		"chunks and length":      {post + "Transfer-Encoding: chunked\r\n" + length + "\r\n0\r\n\r\n" + smuggled, 400},
		"two lengths":            {post + "Content-Length: 0\r\n" + length + "\r\n" + smuggled, 400},
		"the same length twice":  {post + length + length + "\r\n" + smuggled, 400},
		"list of lengths":        {post + "Content-Length: 0, 5\r\n\r\n" + smuggled, 400},
		"signed length":          {post + "Content-Length: +0\r\n\r\n" + smuggled, 400},
		"hex length":             {post + "Content-Length: 0x0\r\n\r\n" + smuggled, 400},
		"negative length":        {post + "Content-Length: -1\r\n\r\n" + smuggled, 400},
		"huge length":            {post + "Content-Length: 18446744073709551616\r\n\r\n" + smuggled, 400},
		"space before colon":     {post + "Content-Length : 0\r\n\r\n" + smuggled, 400},
		"coding with space":      {post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + smuggled, 400},
		"coding, hidden":         {post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + smuggled, 501},
		"coding, list":           {post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + smuggled, 501},
		"coding, quoted":         {post + "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n" + smuggled, 501},
		"coding, twice":          {post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: cow\r\n\r\n0\r\n\r\n" + smuggled, 501},
		"coding, vertical tab":   {post + "Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n" + smuggled, 400},
		"coding, folded":         {post + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" + smuggled, 400},
		"coding in 1.0":          {"POST /front HTTP/1.0\r\nHost: v1.shop.e2e.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, 400},
		"obs-fold":               {post + "X: a\r\n b\r\nContent-Length: 0\r\n\r\n" + smuggled, 400},
		"leading fold":           {"POST /front HTTP/1.1\r\n Host: v1.shop.e2e.test\r\n\r\n" + smuggled, 400},
		"bare LF":                {"POST /front HTTP/1.1\nHost: v1.shop.e2e.test\n\n" + smuggled, 400},
		"bare LF in the head":    {post + "X: a\nContent-Length: 0\r\n\r\n" + smuggled, 400},
		"bare LF at its end":     {post + "Content-Length: 0\r\n\n" + smuggled, 400},
		"bare CR":                {post + "X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, 400},
		"nul":                    {post + "Content-Length: 0\x00\r\n\r\n" + smuggled, 400},
		"no colon":               {post + "Content-Length\r\n\r\n" + smuggled, 400},
		"chunk size":             {chunked + "zz\r\n" + smuggled, 0},
		"chunk size, prefixed":   {chunked + "0x0\r\n\r\n" + smuggled, 0},
		"chunk size, signed":     {chunked + "+0\r\n\r\n" + smuggled, 0},
		"chunk size, huge":       {chunked + "ffffffffffffffff1\r\n" + smuggled, 0},
		"chunk size, bare LF":    {chunked + "0\n\n" + smuggled, 0},
		"chunk too long":         {chunked + "1\r\nab\r\n0\r\n\r\n" + smuggled, 0},
		"chunk ends in LF":       {chunked + "1\r\na\n0\r\n\r\n" + smuggled, 0},
		"chunk extension, LF":    {chunked + "0;a\nb\r\n\r\n" + smuggled, 0},
		"old protocol":           {"GET /front\r\n\r\n" + smuggled, 400},
		"http 2":                 {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + smuggled, 505},
		"space in the target":    {"GET /front HTTP/1.1 HTTP/1.1\r\nHost: v1.shop.e2e.test\r\n\r\n" + smuggled, 400},
		"line in the target":     {"GET /front\r\nX:y HTTP/1.1\r\nHost: v1.shop.e2e.test\r\n\r\n" + smuggled, 400},
		"body of a GET":          {"GET /front HTTP/1.1\r\nHost: v1.shop.e2e.test\r\nConnection: close\r\n" + length + "\r\n" + smuggled, 200},
		"length is hop-by-hop":   {post + "Connection: close, Content-Length\r\n" + length + "\r\n" + smuggled, 200},
		"coding is hop-by-hop":   {post + "Connection: close, Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(smuggled), smuggled), 200},
		"trailer":                {post + "Connection: close\r\nTrailer: Content-Length\r\nTransfer-Encoding: chunked\r\n\r\n" + "1\r\na\r\n0\r\nContent-Length: 9\r\n\r\n", 200},
		"http 2 upgrade":         {post + "Connection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n" + length + "\r\n" + smuggled, 200},
		"websocket with a body":  {post + "Connection: close, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n" + length + "\r\n" + smuggled, 200},
		"expectation, no answer": {post + "Connection: close\r\nExpect: 100-continue\r\n" + length + "\r\n" + smuggled, 200},
	}
}

// TestSmuggling hides requests behind requests. The worker must see none of
// them: an ambiguous request is refused and its connection closed.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	d := withRecorder(t)
	t.Run("each", func(t *testing.T) {
		for name, tt := range smuggling() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d := d.on(t)
				got := slices.DeleteFunc(d.send(tt.bytes), func(a answer) bool { return a.Status == 100 })
				switch {
				case len(got) > 1:
					t.Errorf("%d answers to one request: %v", len(got), got)
				case tt.want != 0 && (len(got) != 1 || got[0].Status != tt.want):
					t.Errorf("got %v, want %d", got, tt.want)
				case tt.want == 0 && len(got) == 1 && got[0].Status < 400:
					t.Errorf("broken chunks were answered with %v", got)
				}
			})
		}
	})
	a := d.get("http://v1.shop.e2e.test/recorder")
	var w testimony
	if err := json.Unmarshal([]byte(a.Body), &w); err != nil {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if slices.Contains(w.Seen, "/smuggled") || !slices.Contains(w.Seen, "/front") {
		t.Errorf("the worker saw %q", w.Seen)
	}
	d.livesOn()
}

// TestControlHeaders sends the headers that gateway and runtime use among
// themselves [D45]. X-Forwarded-* do not belong to them: a client on loopback may
// be the TLS proxy and is trusted.
func TestControlHeaders(t *testing.T) {
	t.Parallel()
	d := withRecorder(t)
	a := d.send("GET /a HTTP/1.1\r\nHost: v1.shop.e2e.test\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nX-Svc-Proto: https\r\nX-Svc-Cf: {\"country\":\"XX\"}\r\n" +
		"X-Svc-Verify: x\r\nSvc-Version: other\r\nCF-Connecting-IP: 6.6.6.6\r\nX-Real-IP: 6.6.6.6\r\n" +
		"Proxy-Authorization: secret\r\nProxy-Connection: keep-alive\r\nKeep-Alive: 1\r\nTE: trailers\r\n\r\n")[0]
	var w testimony
	if err := json.Unmarshal([]byte(a.Body), &w); err != nil {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if !strings.HasPrefix(w.URL, "http://v1.shop.e2e.test") {
		t.Errorf("a client chose the scheme or the host: %s", w.URL)
	}
	if text := fmt.Sprint(w.CF); strings.Contains(text, "XX") {
		t.Errorf("a client chose request.cf: %s", text)
	}
	for _, name := range []string{"x-hop", "x-svc-proto", "x-svc-cf", "x-svc-verify", "proxy-authorization", "proxy-connection", "keep-alive", "te"} {
		if v, ok := w.Headers[name]; ok {
			t.Errorf("the worker got %s: %s", name, v)
		}
	}
	if got := w.Headers["cf-connecting-ip"]; got != "127.0.0.1" {
		t.Errorf("CF-Connecting-IP is %q", got)
	}
	if got := a.Header.Get("Svc-Version"); got != "v1" {
		t.Errorf("Svc-Version is %q", got)
	}
	if got := w.Headers["x-forwarded-host"] + " " + w.Headers["x-forwarded-proto"]; got != "v1.shop.e2e.test http" {
		t.Errorf("X-Forwarded-Host and -Proto are %q", got)
	}
}

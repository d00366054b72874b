//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestHTTPS: a server with certificates serves gateway and API by https, with HTTP/2 and
// websockets, redirects plain HTTP, and stays open over a replacement.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	ca := svctest.NewAuthority(t)
	cert, key := ca.Write(t, t.TempDir(), "*.e2e.test", "deploy.example")
	d := started(t, "SVC_TLS_CERT="+cert, "SVC_TLS_KEY="+key, "SVC_TLS_PORT=0", "SVC_HTTP_PORT=0", "SVC_API_HOSTS=deploy.example",
		"SVC_PREVIEW_URL_TEMPLATE={scheme}://{version}--{project}.{baseDomain}:{port}")
	v := d.deploy(worker(t, helloConfig, map[string]string{"index.js": `
		export default { fetch(r) {
			if (r.headers.get("upgrade") !== "websocket") return new Response(r.url);
			const [a, b] = Object.values(new WebSocketPair());
			b.accept();
			b.send(r.url);
			return new Response(null, { status: 101, webSocket: a });
		} }`}), "--version", "v1")
	u, err := url.Parse(v.PreviewURL)
	if err != nil || u.Scheme != "https" || u.Hostname() != "v1--hello.e2e.test" || !strings.HasSuffix(d.note.HTTPS, ":"+u.Port()) {
		t.Fatalf("%s, https at %s: %v", v.PreviewURL, d.note.HTTPS, err)
	}
	get := func(c *http.Client, url, wantProto, want string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.Proto != wantProto || !strings.Contains(string(text)+resp.Header.Get("Location"), want) {
			t.Errorf("%s: %s %s %s, %v", url, resp.Proto, resp.Status, text, err)
		}
	}
	one, two := secureClient(t, ca.Pool(), d.note.HTTPS, false), secureClient(t, ca.Pool(), d.note.HTTPS, true)
	get(one, v.PreviewURL+"/a", "HTTP/1.1", v.PreviewURL+"/a")
	get(two, v.PreviewURL+"/a", "HTTP/2.0", v.PreviewURL+"/a")
	get(two, "https://deploy.example:"+u.Port()+"/v1/health", "HTTP/2.0", `"ok"`)
	socket, _, err := websocket.Dial(t.Context(), strings.Replace(v.PreviewURL, "https", "wss", 1)+"/ws", &websocket.DialOptions{HTTPClient: one})
	if err != nil {
		t.Fatal(err)
	}
	if _, text, err := socket.Read(t.Context()); err != nil || string(text) != v.PreviewURL+"/ws" {
		t.Errorf("websocket: %q, %v", text, err)
	}
	_ = socket.CloseNow()
	get(secureClient(t, ca.Pool(), d.note.HTTP, false), "http://v1--hello.e2e.test/a?b", "HTTP/1.1", v.PreviewURL+"/a?b")
	if out := d.ok(d.home, "tls", "list"); !strings.Contains(out, "*.e2e.test,deploy.example") {
		t.Errorf("certificates:\n%s", out)
	}
	d.ok(d.home, "admin", "upgrade")
	two.CloseIdleConnections() // the client may not have seen that they ended
	get(two, v.PreviewURL+"/b", "HTTP/2.0", v.PreviewURL+"/b")
}

// secureClient connects to addr, whatever host it asks for, and follows no redirect.
func secureClient(t *testing.T, roots *x509.CertPool, addr string, two bool) *http.Client {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{
		ForceAttemptHTTP2: two, TLSClientConfig: &tls.Config{RootCAs: roots},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:"+port)
		},
	}
	if !two {
		transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

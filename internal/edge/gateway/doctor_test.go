package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestDoctor(t *testing.T) { engines(t, testDoctor) }

// testDoctor: a request with the header is answered by the gateway, also on a host with a
// version, and says what arrived.
func testDoctor(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	for _, tc := range []struct {
		host, header, want string
	}{
		{"v1.shop.apps.test", "", "proto=http client=127.0.0.1"},
		{"unknown.apps.test", "X-Forwarded-Proto: https\r\nX-Forwarded-For: 192.0.2.1\r\n", "proto=https client=192.0.2.1"},
		{"unknown.apps.test", "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", "proto=http client=127.0.0.1 upgrade=websocket"},
	} {
		c := b.raw(t)
		c.send("GET / HTTP/1.1\r\nHost: " + tc.host + "\r\nSvc-Doctor: 1\r\n" + tc.header + "\r\n")
		resp, body := c.answer("GET")
		if got := resp.Header.Get(svc.SeenHeader); resp.StatusCode != http.StatusNotFound || got != tc.want || !strings.Contains(body, "by itself") {
			t.Errorf("%s: %d, %s: %q, want %q: %s", tc.host, resp.StatusCode, svc.SeenHeader, got, tc.want, body)
		}
	}
}

// encrypted is a connection from something that ends TLS in this process.
type encrypted struct{ net.Conn }

func (encrypted) Encrypted() {}

// encryptedListener marks every connection.
type encryptedListener struct{ net.Listener }

func (l encryptedListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	return encrypted{nc}, err
}

func TestEncrypted(t *testing.T) { engines(t, testEncrypted) }

// testEncrypted: a worker sees https on an encrypted connection, whatever a header says of
// another scheme, unless a trusted proxy says it.
func testEncrypted(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, TrustedProxies: []netip.Prefix{}})
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = b.Serve(t.Context(), encryptedListener{ln}) }()
	nc, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := io.WriteString(nc, "GET / HTTP/1.1\r\nHost: a.apps.test\r\nX-Forwarded-Proto: http\r\nSvc-Doctor: 1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get(svc.SeenHeader); got != "proto=https client=127.0.0.1" {
		t.Errorf("%s: %q", svc.SeenHeader, got)
	}
}

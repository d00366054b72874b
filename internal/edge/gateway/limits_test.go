package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// slowBody begins a request whose body does not arrive, and returns when it was refused.
func (b *bench) slowBody(t *testing.T, framing string) {
	t.Helper()
	c := b.raw(t)
	c.send("POST / HTTP/1.1\r\nHost: v1.shop.apps.test\r\n" + framing)
	resp, body := c.answer("POST")
	if resp.StatusCode != http.StatusRequestTimeout || resp.Header.Get("Svc-Error") != "body_incomplete" || !resp.Close {
		t.Errorf("%s %v %s", resp.Status, resp.Header, body)
	}
	c.ended()
}

// TestSlowBody checks that a request whose body does not arrive is refused, and that its
// worker is cancelled.
func TestSlowBody(t *testing.T) { engines(t, testSlowBody) }

func testSlowBody(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, ClientTimeout: 10 * time.Millisecond, SweepEvery: sweep})
	cancelled := make(chan struct{}, 2)
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		_, _ = io.Copy(io.Discard, c.Conn)
		cancelled <- struct{}{}
	}))
	for _, framing := range []string{"Content-Length: 100000\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"} {
		b.slowBody(t, framing)
		svctest.Wait(t, "the worker is cancelled", cancelled)
	}
}

// TestSlowBodyAfterContinue has a client that waits for 100 (Continue), for which no
// limit applies, and then sends no body.
func TestSlowBodyAfterContinue(t *testing.T) { engines(t, testSlowBodyAfterContinue) }

func testSlowBodyAfterContinue(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, ClientTimeout: 10 * time.Millisecond, SweepEvery: sweep})
	arrived, proceed := make(chan struct{}, 2), make(chan struct{})
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		if _, fields, err := readHead(c.Reader); err == nil && fields.Get("Expect") != "" {
			arrived <- struct{}{}
			<-proceed
			c.send("HTTP/1.1 100 Continue\r\n\r\n")
		}
		_, _ = io.Copy(io.Discard, c.Conn)
	}))
	c := b.raw(t)
	c.send("POST / HTTP/1.1\r\nHost: v1.shop.apps.test\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
	svctest.Wait(t, "the request arrives", arrived)
	b.slowBody(t, "Content-Length: 100000\r\n\r\nabc") // longer than the limit
	close(proceed)
	if resp, _ := c.answer("POST"); resp.StatusCode != http.StatusContinue {
		t.Errorf("%s", resp.Status)
	}
	if resp, _ := c.answer("POST"); resp.StatusCode != http.StatusRequestTimeout {
		t.Errorf("%s", resp.Status)
	}
}

// TestStalledReader checks that a client that does not read its response is
// disconnected, and that its worker is cancelled.
func TestStalledReader(t *testing.T) { engines(t, testStalledReader) }

func testStalledReader(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, ClientTimeout: 100 * time.Millisecond, SweepEvery: sweep})
	for _, framing := range []string{"Content-Length: 1000000000", "X: until the end"} {
		cancelled := make(chan error, 1)
		b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
			if _, _, ok := c.next(); !ok {
				return
			}
			c.send("HTTP/1.1 200 OK\r\n" + framing + "\r\n\r\n")
			_, err := io.Copy(c.Conn, io.LimitReader(&counting{}, 1000000000))
			cancelled <- err
		}))
		c := b.raw(t)
		c.send("GET / HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
		if err := svctest.Wait(t, "the worker is cancelled", cancelled); err == nil {
			t.Error("the worker has sent everything")
		}
		if _, err := io.Copy(io.Discard, c.Conn); err == nil {
			t.Error("the response looks complete, or the connection was not reset")
		}
		b.SetVersion(shop, svc.Upstream{Status: svc.StatusArchived})
	}
}

// TestStalledWebsocketReader has a websocket's client that does not read.
func TestStalledWebsocketReader(t *testing.T) { engines(t, testStalledWebsocketReader) }

func testStalledWebsocketReader(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, ClientTimeout: 100 * time.Millisecond})
	ended := make(chan struct{})
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		if _, _, ok := c.next(); !ok {
			return
		}
		c.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n\x82\x7f\x00\x00\x00\x00\x40\x00\x00\x00")
		_, _ = io.Copy(c.Conn, io.LimitReader(&counting{}, 1<<30))
		close(ended)
	}))
	b.websocket(t, "v1.shop.apps.test")
	svctest.Wait(t, "the websocket ends", ended)
	svctest.Eventually(t, "it is no longer counted", func() bool { return b.Websockets() == 0 })
}

// TestHandshakeTimeout has a worker that does not answer a websocket handshake.
func TestHandshakeTimeout(t *testing.T) { engines(t, testHandshakeTimeout) }

func testHandshakeTimeout(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, ClientTimeout: 10 * time.Millisecond, SweepEvery: sweep})
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) { _, _ = io.Copy(io.Discard, c.Conn) }))
	c := b.raw(t)
	c.send("GET / HTTP/1.1\r\nHost: v1.shop.apps.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
	if resp, body := c.answer("GET"); resp.StatusCode != http.StatusGatewayTimeout || resp.Header.Get("Svc-Error") != "timeout" {
		t.Errorf("%s %v %s", resp.Status, resp.Header, body)
	}
}

// TestIdleStreamsContinue checks that the limits do not end a websocket, an event stream
// and a slow worker that are idle for longer.
func TestIdleStreamsContinue(t *testing.T) { engines(t, testIdleStreamsContinue) }

func testIdleStreamsContinue(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, ClientTimeout: 10 * time.Millisecond})
	w := startWorker(t, "v1")
	b.ready(shop, w.socket)
	socket := b.websocket(t, "v1.shop.apps.test")
	stream, err := b.client.Do(request(t, http.MethodGet, "v1.shop.apps.test", "/sse", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	waiting := b.raw(t)
	waiting.send("POST /wait?id=x HTTP/1.1\r\nHost: v1.shop.apps.test\r\nContent-Length: 3\r\n\r\nabc")
	for range 2 {
		b.slowBody(t, "Content-Length: 100000\r\n\r\nabc") // longer than the limit
	}
	socket.write(1, "hello")
	if _, got := socket.read(); got != "hello" {
		t.Errorf("%q", got)
	}
	w.release("first-seen")
	if rest, err := io.ReadAll(bufio.NewReader(stream.Body)); string(rest) != "data: one\n\ndata: two\n\n" || err != nil {
		t.Errorf("%q %v", rest, err)
	}
	w.release("x")
	if _, body := waiting.answer("POST"); body != "waited" {
		t.Errorf("%q", body)
	}
}

// hanging is a runtime that does not answer; it reports each request.
func hanging(t *testing.T, arrived chan<- struct{}) (socket string) {
	return fakeRuntime(t, func(_ int, c *raw) {
		if _, _, err := readHead(c.Reader); err == nil {
			arrived <- struct{}{}
			_, _ = io.Copy(io.Discard, c.Conn)
		}
	})
}

func refused(t *testing.T, c *raw) {
	t.Helper()
	resp, body := c.answer("GET")
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Svc-Error") != "too_many_connections" || resp.Header.Get("Retry-After") == "" {
		t.Errorf("%s %v %s", resp.Status, resp.Header, body)
	}
}

const hello = "GET / HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n"

// TestConnectionLimit checks that connections above the limit are answered with 503, and
// that idle ones are closed in favor of new ones.
func TestConnectionLimit(t *testing.T) { engines(t, testConnectionLimit) }

func testConnectionLimit(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, MaxConns: 3})
	arrived := make(chan struct{}, 10)
	b.ready(shop, hanging(t, arrived))
	var busy []*raw
	for range 3 {
		c := b.raw(t)
		c.send(hello)
		svctest.Wait(t, "the request arrives", arrived)
		busy = append(busy, c)
	}
	c := b.raw(t)
	c.send(hello)
	refused(t, c)
	c.ended()
	busy[0].Close()
	svctest.Eventually(t, "the connection is no longer counted", func() bool { return b.Connections() == 2 })
	idle := b.raw(t)
	svctest.Eventually(t, "the idle connection is counted", func() bool { return b.Connections() == 3 })
	svctest.Eventually(t, "the idle connection is closed for another one", func() bool {
		c := b.raw(t)
		defer c.Close()
		_, _ = c.Write([]byte("GET / HTTP/1.1\r\nHost: none.apps.test\r\n\r\n"))
		first, _, _ := readHead(c.Reader)
		return first == "HTTP/1.1 404 Not Found"
	})
	idle.ended()
}

// TestConnectionLimitOfAClient checks the limit for one address, which does not apply to
// trusted proxies.
func TestConnectionLimitOfAClient(t *testing.T) { engines(t, testConnectionLimitOfAClient) }

func testConnectionLimitOfAClient(t *testing.T, engine gateway.Engine) {
	for name, trusted := range map[string][]netip.Prefix{"client": {}, "proxy": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, gateway.Config{Engine: engine, MaxConnsPerClient: 2, TrustedProxies: trusted})
			b.ready(shop, always(t, "hello"))
			open := []*raw{b.raw(t), b.raw(t)}
			svctest.Eventually(t, "the connections are counted", func() bool { return b.Connections() == 2 })
			c := b.raw(t)
			c.send(hello)
			if name == "client" {
				refused(t, c)
				open[0].Close()
				svctest.Eventually(t, "the connection is no longer counted", func() bool { return b.Connections() == 1 })
				c = b.raw(t)
				c.send(hello)
			}
			if _, body := c.answer("GET"); body != "hello" {
				t.Errorf("%q", body)
			}
		})
	}
}

// TestRequestLimitOfAVersion checks that a version with too many requests and websockets
// refuses further ones, and that other versions do not.
func TestRequestLimitOfAVersion(t *testing.T) { engines(t, testRequestLimitOfAVersion) }

func testRequestLimitOfAVersion(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, MaxConnsPerVersion: 2})
	worker := startWorker(t, "v1")
	b.ready(shop, worker.socket)
	other := svc.Ref{Project: "shop", Version: "v2"}
	b.ready(other, always(t, "two"))
	socket := b.websocket(t, "v1.shop.apps.test")
	svctest.Eventually(t, "the handshake is over", func() bool { return b.Inflight() == 0 })
	busy := b.raw(t)
	busy.send("GET /hang?id=a HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
	svctest.Wait(t, "the request arrives", worker.gate("began-a"))
	c := b.raw(t)
	for range 2 {
		c.send(hello)
		refused(t, c)
	}
	if _, body := b.get(t, "v2.shop.apps.test", "/"); body != "two" {
		t.Errorf("another version: %q", body)
	}
	for i, leave := range []func(){func() { socket.Close() }, func() { busy.Close() }} {
		leave()
		svctest.Eventually(t, fmt.Sprintf("place %d is free", i), func() bool {
			resp, _ := b.get(t, "v1.shop.apps.test", "/version")
			return resp.StatusCode == http.StatusOK
		})
	}
}

package gateway_test

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// ws is a websocket client.
type ws struct{ *raw }

func (b *bench) websocket(t *testing.T, host string) ws {
	t.Helper()
	c := b.raw(t)
	c.send("GET /ws HTTP/1.1\r\nHost: " + host + "\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n" +
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
	head := ""
	for !strings.HasSuffix(head, "\r\n\r\n") {
		line, err := c.ReadString('\n')
		if err != nil {
			t.Fatalf("%q %v", head, err)
		}
		head += line
	}
	for _, want := range []string{"HTTP/1.1 101 ", "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "Svc-Version: v1", "Upgrade: websocket", "Connection: Upgrade"} {
		if !strings.Contains(strings.ToLower(head), strings.ToLower(want)) {
			t.Fatalf("no %q in %q", want, head)
		}
	}
	return ws{c}
}

func (w ws) write(op byte, payload string) {
	w.t.Helper()
	b := []byte{0x80 | op, 0x80 | byte(len(payload))}
	if len(payload) > 125 {
		b = binary.BigEndian.AppendUint16([]byte{0x80 | op, 0x80 | 126}, uint16(len(payload)))
	}
	w.send(string(append(b, 0, 0, 0, 0)) + payload)
}

func (w ws) read() (op byte, payload string) {
	w.t.Helper()
	head := make([]byte, 2)
	if _, err := io.ReadFull(w.Reader, head); err != nil {
		w.t.Fatal(err)
	}
	n := int(head[1])
	if n == 126 {
		size := make([]byte, 2)
		if _, err := io.ReadFull(w.Reader, size); err != nil {
			w.t.Fatal(err)
		}
		n = int(binary.BigEndian.Uint16(size))
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(w.Reader, b); err != nil {
		w.t.Fatal(err)
	}
	return head[0] & 15, string(b)
}

// closed reads the close frame and answers it.
func (w ws) closed() (code int) {
	w.t.Helper()
	for {
		op, payload := w.read()
		if op != 8 {
			continue
		}
		w.write(8, payload)
		w.ended()
		return int(binary.BigEndian.Uint16([]byte(payload)))
	}
}

// spec: [C6.7]
func TestWebsocketEcho(t *testing.T) { engines(t, testWebsocketEcho) }

func testWebsocketEcho(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	w := b.websocket(t, "v1.shop.apps.test")
	for _, text := range []string{"hello", strings.Repeat("x", 60000), ""} {
		w.write(1, text)
		if op, got := w.read(); op != 1 || got != text {
			t.Errorf("%d: %d bytes, sent %d", op, len(got), len(text))
		}
	}
	if b.Websockets() != 1 || b.Routes()[0].Websockets != 1 || b.Inflight() != 0 {
		t.Errorf("%d websockets, %+v, %d in flight", b.Websockets(), b.Routes(), b.Inflight())
	}
	for range 2 {
		if len(b.LastRequests()) != 1 {
			t.Error("an open websocket does not count as a request now")
		}
	}
	w.write(1, "close")
	if code := w.closed(); code != 4001 {
		t.Errorf("close code of the worker: %d", code)
	}
	svctest.Eventually(t, "the websocket is no longer counted", func() bool { return b.Websockets() == 0 })
}

func TestWebsocketRefused(t *testing.T) { engines(t, testWebsocketRefused) }

func testWebsocketRefused(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	c := b.raw(t)
	c.send("GET /status?code=403 HTTP/1.1\r\nHost: v1.shop.apps.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
	if resp, _ := c.answer("GET"); resp.StatusCode != http.StatusForbidden {
		t.Error(resp.Status)
	}
	c.send("GET /bytes?size=1 HTTP/1.1\r\nHost: v1.shop.apps.test\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
	if _, body := c.answer("GET"); body != "a" {
		t.Error("a request with another upgrade must be served without it")
	}
}

// spec: [C6.7]
func TestCloseWebsockets(t *testing.T) { engines(t, testCloseWebsockets) }

func testCloseWebsockets(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	worker := startWorker(t, "v1")
	b.ready(shop, worker.socket)
	b.SetProduction("shop", "v1")
	preview, production := b.websocket(t, "v1.shop.apps.test"), b.websocket(t, "shop.apps.test")
	b.SetProduction("shop", "")
	b.CloseWebsockets(shop, svc.RoleProduction, time.Millisecond)
	if code := production.closed(); code != 1012 {
		t.Errorf("close code %d", code)
	}
	preview.write(1, "still here")
	if _, got := preview.read(); got != "still here" {
		t.Errorf("%q", got)
	}
	b.CloseWebsockets(shop, "", 0)
	if code := preview.closed(); code != 1012 {
		t.Errorf("close code %d", code)
	}

	// The version is production again before the delay ends: the websocket stays open.
	b.SetProduction("shop", "v1")
	again := b.websocket(t, "shop.apps.test")
	b.CloseWebsockets(shop, svc.RoleProduction, time.Millisecond)
	svctest.Eventually(t, "the delay ends", func() bool { return b.PendingTimers() == 0 })
	again.write(1, "x")
	if _, got := again.read(); got != "x" {
		t.Errorf("%q", got)
	}

	// A runtime that ends: its clients receive the code for a reconnect.
	if err := worker.process.Kill(); err != nil {
		t.Fatal(err)
	}
	if code := again.closed(); code != 1012 {
		t.Errorf("close code %d", code)
	}
}

func TestRetiredVersionEndsItsWebsockets(t *testing.T) {
	engines(t, testRetiredVersionEndsItsWebsockets)
}

func testRetiredVersionEndsItsWebsockets(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	w := b.websocket(t, "v1.shop.apps.test")
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusArchived})
	if code := w.closed(); code != 1012 {
		t.Errorf("close code %d", code)
	}
}

// TestCloseWaitsForTheFrame checks that the close frame is sent between two frames.
func TestCloseWaitsForTheFrame(t *testing.T) { engines(t, testCloseWaitsForTheFrame) }

func testCloseWaitsForTheFrame(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	finish := make(chan struct{})
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		if _, _, ok := c.next(); !ok {
			return
		}
		c.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n\x82\x04ab")
		<-finish
		c.send("cd\x82\x02x")
		_, _ = io.Copy(io.Discard, c.Conn)
	}))
	w := b.websocket(t, "v1.shop.apps.test")
	if _, err := w.Peek(4); err != nil { // the first part of the frame
		t.Fatal(err)
	}
	b.CloseWebsockets(shop, "", 0)
	close(finish)
	if op, payload := w.read(); op != 2 || payload != "abcd" {
		t.Errorf("%d %q", op, payload)
	}
	if code := w.closed(); code != 1012 {
		t.Errorf("close code %d", code)
	}
}

// TestWebsocketBothDirections has a runtime that returns all frames, more than the buffers
// take: neither direction may lose bytes, or wait for the other.
func TestWebsocketBothDirections(t *testing.T) { engines(t, testWebsocketBothDirections) }

func testWebsocketBothDirections(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		if _, _, ok := c.next(); !ok {
			return
		}
		c.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")
		_, _ = io.Copy(c.Conn, c.Reader)
	}))
	const frames, size = 100, 60000
	w := b.websocket(t, "v1.shop.apps.test")
	sent := make(chan [32]byte, 1)
	go func() {
		source, sum := &counting{}, sha256.New()
		for range frames {
			frame := append([]byte{0x82, 126}, binary.BigEndian.AppendUint16(nil, size)...)
			payload := make([]byte, size)
			_, _ = source.Read(payload)
			sum.Write(payload)
			_, _ = w.Write(append(frame, payload...))
		}
		sent <- [32]byte(sum.Sum(nil))
	}()
	sum := sha256.New()
	for range frames {
		_, payload := w.read()
		sum.Write([]byte(payload))
	}
	if got, want := [32]byte(sum.Sum(nil)), <-sent; got != want {
		t.Error("the frames differ")
	}
}

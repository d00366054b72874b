package gateway_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// closeWrite ends the input of the gateway; the responses are still read.
func (r *raw) closeWrite() {
	r.t.Helper()
	tcp, ok := r.Conn.(*net.TCPConn)
	if !ok {
		r.t.Fatal("not a TCP connection")
	}
	if err := tcp.CloseWrite(); err != nil {
		r.t.Fatal(err)
	}
}

// final reads the final response, behind interim ones, and returns its body.
func (r *raw) final(method string) string {
	r.t.Helper()
	for {
		if resp, body := r.answer(method); resp.StatusCode >= 200 {
			return body
		}
	}
}

// TestHalfClosedClientGetsItsAnswer has clients that close their sending side after the
// request, long before the worker answers.
func TestHalfClosedClientGetsItsAnswer(t *testing.T) { engines(t, testHalfClosedClientGetsItsAnswer) }

func testHalfClosedClientGetsItsAnswer(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	received, finish := make(chan string), make(chan struct{})
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		for {
			_, body, ok := c.next()
			if !ok {
				return
			}
			received <- body
			<-finish
			c.reply("200 OK", "late")
		}
	}))
	const host = " HTTP/1.1\r\nHost: v1.shop.apps.test\r\n"
	for _, request := range []string{
		"GET /" + host + "\r\n",
		"POST /" + host + "Content-Length: 3\r\n\r\nabc",
		"POST /" + host + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	} {
		c := b.raw(t)
		c.send(request)
		svctest.Wait(t, "the request arrives", received)
		c.closeWrite()
		if resp, _ := c.answer("POST"); resp.StatusCode != http.StatusContinue {
			t.Errorf("the probe: %s", resp.Status)
		}
		finish <- struct{}{}
		if body := c.final("GET"); body != "late" {
			t.Errorf("%q", body)
		}
		c.ended()
	}
}

// TestHalfClosedClientGetsAllAnswers has a client that sends several requests and closes
// its sending side immediately.
func TestHalfClosedClientGetsAllAnswers(t *testing.T) { engines(t, testHalfClosedClientGetsAllAnswers) }

func testHalfClosedClientGetsAllAnswers(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, ProbeTime: time.Hour})
	b.ready(shop, startWorker(t, "v1").socket)
	c := b.raw(t)
	c.send(strings.Repeat("GET /version HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n", 3) +
		"POST /raw HTTP/1.0\r\nHost: v1.shop.apps.test\r\nContent-Length: 3\r\n\r\nabc")
	c.closeWrite()
	for _, want := range []string{"v1", "v1", "v1", "abc"} {
		if _, body := c.answer("GET"); body != want {
			t.Errorf("%q, want %q", body, want)
		}
	}
	c.ended()
}

// TestHalfClosedClientWaits has a client that closes its sending side while its request
// is held.
func TestHalfClosedClientWaits(t *testing.T) { engines(t, testHalfClosedClientWaits) }

func testHalfClosedClientWaits(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, HoldTimeout: timeout})
	b.ready(shop, always(t, "x"))
	b.SetProduction("shop", "v1")
	b.Hold("shop")
	c := b.raw(t)
	c.send("GET / HTTP/1.1\r\nHost: shop.apps.test\r\n\r\n")
	c.closeWrite()
	svctest.Eventually(t, "the request is held", func() bool { return b.Held() == 1 })
	if resp, _ := c.answer("GET"); resp.StatusCode != http.StatusContinue {
		t.Errorf("the probe: %s", resp.Status)
	}
	b.Release("shop")
	if body := c.final("GET"); body != "x" {
		t.Errorf("%q", body)
	}
}

// TestHalfClosedStream has a client that closes its sending side during the response.
// The stream continues as long as it moves; a client that has closed its connection
// cancels the worker.
func TestHalfClosedStream(t *testing.T) { engines(t, testHalfClosedStream) }

func testHalfClosedStream(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, ProbeTime: time.Second})
	next, cancelled := make(chan string), make(chan struct{})
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		if _, _, ok := c.next(); !ok {
			return
		}
		c.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for data := range next {
			c.send(data)
		}
		_, _ = io.Copy(io.Discard, c.Conn)
		close(cancelled)
	}))
	c := b.raw(t)
	c.send("GET / HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
	next <- "1\r\na\r\n"
	resp, err := http.ReadResponse(c.Reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for i, data := range []string{"b", "c", "d"} {
		if got, err := io.ReadAll(io.LimitReader(resp.Body, 1)); err != nil || string(got) != string(rune('a'+i)) {
			t.Fatalf("%q %v", got, err)
		}
		if i == 0 {
			c.closeWrite()
		}
		next <- "1\r\n" + data + "\r\n"
	}
	c.Close()
	close(next)
	svctest.Wait(t, "the worker is cancelled", cancelled)
	svctest.Eventually(t, "the request is over", func() bool { return b.Inflight() == 0 })
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusArchived})
}

// TestClosedStream has a client that closes its connection during a response that does
// not move: the worker is cancelled.
func TestClosedStream(t *testing.T) { engines(t, testClosedStream) }

func testClosedStream(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	cancelled := make(chan struct{})
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		if _, _, ok := c.next(); !ok {
			return
		}
		c.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
		_, _ = io.Copy(io.Discard, c.Conn)
		close(cancelled)
	}))
	c := b.raw(t)
	c.send("GET / HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
	if _, _, err := readHead(c.Reader); err != nil {
		t.Fatal(err)
	}
	if got, err := c.ReadByte(); got != 'a' || err != nil {
		t.Fatalf("%q %v", got, err)
	}
	c.Close()
	svctest.Wait(t, "the worker is cancelled", cancelled)
}

// TestHalfClosedClientLeaves has a client that closes its sending side behind two requests,
// and its connection during the second one: the worker is cancelled.
func TestHalfClosedClientLeaves(t *testing.T) { engines(t, testHalfClosedClientLeaves) }

func testHalfClosedClientLeaves(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	second, cancelled := make(chan struct{}), make(chan struct{})
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		if r, _, ok := c.next(); ok && r.URL.Path == "/first" {
			c.reply("200 OK", "first")
			_, _, ok = c.next()
			if !ok {
				return
			}
		}
		close(second)
		_, _ = io.Copy(io.Discard, c.Conn)
		close(cancelled)
	}))
	c := b.raw(t)
	const host = " HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n"
	c.send("GET /first" + host + "GET /second" + host)
	c.closeWrite()
	if body := c.final("GET"); body != "first" {
		t.Errorf("%q", body)
	}
	svctest.Wait(t, "the second request arrives", second)
	c.Close()
	svctest.Wait(t, "the worker is cancelled", cancelled)
}

package gateway_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
)

// careless is a runtime that answers the head of a request, and reads no body.
func careless(t *testing.T) (socket string) {
	t.Helper()
	return fakeRuntime(t, func(_ int, c *raw) {
		if _, _, err := readHead(c.Reader); err == nil {
			c.reply("413 Content Too Large", "no thanks")
		}
	})
}

// upload is a request with a body. Its client reads the response when all is sent, as most
// clients do.
func (r *raw) upload(host, framing string, size int) (answer, string) {
	r.t.Helper()
	r.send("POST /early HTTP/1.1\r\nHost: " + host + "\r\n" + framing + "\r\n\r\n")
	const piece = 1 << 20
	for ; size > 0; size -= piece {
		n := min(size, piece)
		if strings.HasPrefix(framing, "Transfer") {
			r.send(strconv.FormatInt(int64(n), 16) + "\r\n" + strings.Repeat("x", n) + "\r\n")
		} else {
			r.send(strings.Repeat("x", n))
		}
	}
	if strings.HasPrefix(framing, "Transfer") {
		r.send("0\r\n\r\n")
	}
	return r.answer("POST")
}

// TestAnswerOfAnUnreadUpload has responses that do not need the body of their request: the
// client gets them, and can use its connection again.
func TestAnswerOfAnUnreadUpload(t *testing.T) { engines(t, testAnswerOfAnUnreadUpload) }

func testAnswerOfAnUnreadUpload(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, LingerTime: timeout}) // a busy machine lets the client be silent
	b.ready(shop, careless(t))
	const size = 20 << 20
	for _, host := range []string{"v1.shop.apps.test", "unknown.apps.test"} {
		for _, framing := range []string{"Content-Length: " + strconv.Itoa(size), "Transfer-Encoding: chunked"} {
			c := b.raw(t)
			want := http.StatusRequestEntityTooLarge
			if strings.HasPrefix(host, "unknown") {
				want = http.StatusNotFound
			}
			for range 2 {
				if resp, _ := c.upload(host, framing, size); resp.StatusCode != want || resp.Close {
					t.Errorf("%s, %s: %s %v", host, framing, resp.Status, resp.Header)
				}
			}
		}
	}
	if b.Inflight() != 0 {
		t.Error("a request counts after its response")
	}
	b.ready(shop, startWorker(t, "v1").socket) // a worker that answers immediately
	c := b.raw(t)
	for range 2 {
		if resp, body := c.upload("v1.shop.apps.test", "Content-Length: "+strconv.Itoa(size), size); resp.StatusCode != http.StatusRequestEntityTooLarge || body != "no thanks" || resp.Close {
			t.Errorf("the worker: %s %q %v", resp.Status, body, resp.Header)
		}
	}
}

// TestAnswerOfAnEndlessUpload has bodies whose rest is not read to the end: the response says
// that it is the last one, and the client gets it.
func TestAnswerOfAnEndlessUpload(t *testing.T) { engines(t, testAnswerOfAnEndlessUpload) }

func testAnswerOfAnEndlessUpload(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, careless(t))
	for _, host := range []string{"v1.shop.apps.test", "unknown.apps.test"} {
		c := b.raw(t)
		if resp, _ := c.upload(host, "Content-Length: 1000000000", 20<<20); !resp.Close {
			t.Errorf("%s: %s %v", host, resp.Status, resp.Header)
		}
		c.ended()
	}
}

// TestRefusedExpectation has a client that waits for 100 (Continue) and gets a response: it may
// send its body, or not, so the connection ends.
func TestRefusedExpectation(t *testing.T) { engines(t, testRefusedExpectation) }

func testRefusedExpectation(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, careless(t))
	for _, host := range []string{"v1.shop.apps.test", "unknown.apps.test"} {
		c := b.raw(t)
		c.send("POST / HTTP/1.1\r\nHost: " + host + "\r\nExpect: 100-continue\r\nContent-Length: 5000000\r\n\r\n")
		if resp, _ := c.answer("POST"); !resp.Close {
			t.Errorf("%s: %s %v", host, resp.Status, resp.Header)
		}
		c.ended()
		// The client has sent the body all the same.
		if resp, _ := b.raw(t).upload(host, "Expect: 100-continue\r\nContent-Length: 5000000", 5000000); resp.StatusCode < 400 {
			t.Errorf("%s: %s", host, resp.Status)
		}
	}
}

// TestAnswerBeforeMoreInput has clients that send on behind a request that ends the connection:
// they get the response.
func TestAnswerBeforeMoreInput(t *testing.T) { engines(t, testAnswerBeforeMoreInput) }

func testAnswerBeforeMoreInput(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, always(t, "hello"))
	for name, head := range map[string]string{
		"malformed": "GET / HTTP/9.9\r\n\r\n",
		"too large": "GET / HTTP/1.1\r\nHost: v1.shop.apps.test\r\nX: " + strings.Repeat("x", 1<<20),
	} {
		c := b.raw(t)
		c.send(head)
		c.send(strings.Repeat("x", 5<<20))
		if resp, _ := c.answer("GET"); resp.StatusCode < 400 {
			t.Errorf("%s: %s", name, resp.Status)
		}
	}
	if engine == gateway.EngineStd {
		return // net/http closes a connection without a look at what follows a request without a body
	}
	c := b.raw(t)
	c.send("GET / HTTP/1.1\r\nConnection: close\r\nHost: v1.shop.apps.test\r\n\r\n" + strings.Repeat("x", 5<<20))
	if _, body := c.answer("GET"); body != "hello" {
		t.Errorf("the last request: %q", body)
	}
	c.ended()
}

// TestUnreadUploadHoldsNothing has a client that does not send the rest of a body that the
// response did not need: the version is free meanwhile, and the connection ends.
func TestUnreadUploadHoldsNothing(t *testing.T) { engines(t, testUnreadUploadHoldsNothing) }

func testUnreadUploadHoldsNothing(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, LingerTime: timeout})
	b.ready(shop, careless(t))
	c := b.raw(t)
	c.send("POST / HTTP/1.1\r\nHost: v1.shop.apps.test\r\nContent-Length: 5000000\r\n\r\nabc")
	c.answer("POST")
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusArchived})
	if err := b.DrainVersion(t.Context(), shop); err != nil {
		t.Error(err)
	}
	if err := b.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	_, _ = io.Copy(io.Discard, c.Conn)
}

// TestAnswerOfAStaticFile has an upload to the address of a static file.
func TestAnswerOfAStaticFile(t *testing.T) { engines(t, testAnswerOfAStaticFile) }

func testAnswerOfAStaticFile(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, BundleDir: unpack(t, map[string]string{"early": "the text"}), Endpoint: svc.Endpoint{Socket: careless(t), PID: 1}})
	c := b.raw(t)
	for range 2 {
		resp, _ := c.upload("v1.shop.apps.test", "Content-Length: 20000000", 20000000)
		if resp.StatusCode != http.StatusMethodNotAllowed || resp.Close {
			t.Errorf("%s %v", resp.Status, resp.Header)
		}
	}
}

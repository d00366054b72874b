package gateway_test

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestStreamsBothWays sends each byte only when the byte before has returned: neither
// direction may buffer.
func TestStreamsBothWays(t *testing.T) { engines(t, testStreamsBothWays) }

func testStreamsBothWays(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	for _, length := range []int64{-1, 50} {
		pr, pw := io.Pipe()
		req := request(t, http.MethodPost, "v1.shop.apps.test", "/raw", pr)
		req.ContentLength = length
		answers := make(chan *http.Response, 1)
		go func() {
			resp, err := b.client.Do(req) //nolint:bodyclose // by the receiver
			if err != nil {
				t.Error(err)
				pr.CloseWithError(err)
			}
			answers <- resp
		}()
		if _, err := pw.Write([]byte("0")); err != nil {
			t.Fatal(err)
		}
		resp := <-answers
		if resp == nil {
			t.FailNow()
		}
		buf := make([]byte, 1)
		for i := range 50 {
			if _, err := io.ReadFull(resp.Body, buf); err != nil || buf[0] != byte('0'+i) {
				t.Fatalf("byte %d: %q, %v", i, buf, err)
			}
			if i == 49 {
				break
			}
			if _, err := pw.Write([]byte{byte('1' + i)}); err != nil {
				t.Fatal(err)
			}
		}
		pw.Close()
		if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
			t.Errorf("%q %v", rest, err)
		}
		resp.Body.Close()
	}
}

func TestServerSentEvents(t *testing.T) { engines(t, testServerSentEvents) }

func testServerSentEvents(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	w := startWorker(t, "v1")
	b.ready(shop, w.socket)
	resp, err := b.client.Do(request(t, http.MethodGet, "v1.shop.apps.test", "/sse", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	events := bufio.NewReader(resp.Body)
	if line, err := events.ReadString('\n'); line != "data: one\n" || err != nil {
		t.Fatalf("%q %v", line, err)
	}
	w.release("first-seen")
	if rest, err := io.ReadAll(events); string(rest) != "\ndata: two\n\n" || err != nil {
		t.Errorf("%q %v", rest, err)
	}
}

func TestLargeBodies(t *testing.T) { engines(t, testLargeBodies) }

func testLargeBodies(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	const size = 9<<20 + 12345
	for _, length := range []int64{size, -1} {
		up, down := sha256.New(), sha256.New()
		body := io.TeeReader(io.LimitReader(&counting{}, size), up)
		req := request(t, http.MethodPost, "v1.shop.apps.test", "/raw", body)
		req.ContentLength = length
		resp, err := b.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(down, resp.Body)
		resp.Body.Close()
		if err != nil || n != size || string(up.Sum(nil)) != string(down.Sum(nil)) {
			t.Errorf("length %d: %d bytes came back, %v", length, n, err)
		}
	}
	if resp, body := b.get(t, "v1.shop.apps.test", fmt.Sprintf("/bytes?size=%d", size)); len(body) != size || resp.ContentLength != size {
		t.Errorf("%d bytes, announced %d", len(body), resp.ContentLength)
	}
	for _, size := range []int{1, 4 << 10, 16<<10 - 300, 16 << 10, 64 << 10, 65<<10 + 1} { // around the sizes of buffers
		want := strings.Repeat("x", size)
		if _, body := b.do(t, request(t, http.MethodPost, "v1.shop.apps.test", "/raw", strings.NewReader(want))); body != want {
			t.Errorf("%d bytes: %d came back", size, len(body))
		}
	}
}

// counting is a sequence that does not repeat within the size of a buffer.
type counting struct{ n uint32 }

func (c *counting) Read(p []byte) (int, error) {
	for i := range p {
		c.n = c.n*1664525 + 1013904223
		p[i] = byte(c.n >> 24)
	}
	return len(p), nil
}

func TestExpectContinue(t *testing.T) { engines(t, testExpectContinue) }

func testExpectContinue(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	c := b.raw(t)
	c.send("POST /raw HTTP/1.1\r\nHost: v1.shop.apps.test\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
	if line, err := c.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" || err != nil {
		t.Fatalf("%q %v", line, err)
	}
	if line, _ := c.ReadString('\n'); line != "\r\n" {
		t.Fatalf("%q", line)
	}
	c.send("abc")
	if _, body := c.answer("POST"); body != "abc" {
		t.Errorf("%q", body)
	}
	if engine == gateway.EngineStd { // net/http may end a connection whose body arrived after the head of the response
		c = b.raw(t)
	}
	// Refused without a 100: the client may send its body, or not.
	c.send("POST /early HTTP/1.1\r\nHost: v1.shop.apps.test\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
	if resp, body := c.answer("POST"); resp.StatusCode != http.StatusRequestEntityTooLarge || body != "no thanks" {
		t.Errorf("%s %q", resp.Status, body)
	}
	c.ended()
}

// TestEarlyAnswer has a worker that answers during the upload, which it never reads.
func TestEarlyAnswer(t *testing.T) { engines(t, testEarlyAnswer) }

func testEarlyAnswer(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	c := b.raw(t)
	c.send("POST /early HTTP/1.1\r\nHost: v1.shop.apps.test\r\nContent-Length: 100000\r\n\r\nbegin")
	if resp, body := c.answer("POST"); resp.StatusCode != http.StatusRequestEntityTooLarge || body != "no thanks" {
		t.Errorf("%s %q", resp.Status, body)
	}
	c.send(strings.Repeat("x", 100000-5) + "GET /bytes?size=1 HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
	if _, body := c.answer("GET"); body != "a" {
		t.Errorf("the connection was not usable after the rest of the upload: %q", body)
	}
	c.send("POST /early HTTP/1.1\r\nHost: v1.shop.apps.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
	if resp, _ := c.answer("POST"); resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Error(resp.Status)
	}
}

// TestHangingUpReachesTheWorker checks that a client that closes its connection
// cancels the worker, in each state of the request.
func TestHangingUpReachesTheWorker(t *testing.T) { engines(t, testHangingUpReachesTheWorker) }

func testHangingUpReachesTheWorker(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	w := startWorker(t, "v1")
	b.ready(shop, w.socket)
	for name, head := range map[string]string{
		"get":    "GET /hang?id=get HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n",
		"upload": "POST /hang?id=upload HTTP/1.1\r\nHost: v1.shop.apps.test\r\nContent-Length: 200000\r\n\r\nabc",
		"chunks": "POST /hang?id=chunks HTTP/1.1\r\nHost: v1.shop.apps.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
		"reset":  "GET /hang?id=reset HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n",
	} {
		c := b.raw(t)
		c.send(head)
		svctest.Wait(t, name+" arrives", w.gate("began-"+name))
		if tcp, ok := c.Conn.(*net.TCPConn); ok && name == "reset" {
			_ = tcp.SetLinger(0)
		}
		c.Close()
		svctest.Wait(t, name+" is cancelled", w.gate("aborted-"+name))
	}
	svctest.Eventually(t, "every request is over", func() bool { return b.Inflight() == 0 })
}

func TestInterimAnswersTrailersAndClose(t *testing.T) { engines(t, testInterimAnswersTrailersAndClose) }

func testInterimAnswersTrailersAndClose(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		for {
			req, _, ok := c.next()
			if !ok {
				return
			}
			switch req.URL.Path {
			case "/hints":
				c.send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			case "/trailers":
				c.send("HTTP/1.1 200 OK\r\nTrailer: Sum\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nSum: 7\r\nContent-Length: 9\r\n\r\n")
			case "/until-close":
				c.send("HTTP/1.1 200 OK\r\n\r\nabc")
				return
			}
		}
	}))
	c := b.raw(t)
	get := func(path string) { c.send("GET " + path + " HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n") }
	get("/hints")
	if resp, _ := c.answer("GET"); resp.StatusCode != http.StatusEarlyHints || resp.Header.Get("Link") != "</a.css>" {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
	if _, body := c.answer("GET"); body != "ok" {
		t.Errorf("%q", body)
	}
	get("/trailers")
	if resp, body := c.answer("GET"); body != "abc" || resp.Trailer.Get("Sum") != "7" {
		t.Errorf("%q %v", body, resp.Trailer)
	}
	get("/until-close")
	if _, body := c.answer("GET"); body != "abc" {
		t.Errorf("%q", body)
	}
	c.send("GET /until-close HTTP/1.0\r\nHost: v1.shop.apps.test\r\n\r\n")
	if resp, body := c.answer("GET"); body != "abc" || !resp.Close {
		t.Errorf("%q %v", body, resp.Header)
	}
	c.ended()
}

func TestSlowClientHoldsTheWorkerBack(t *testing.T) { engines(t, testSlowClientHoldsTheWorkerBack) }

func testSlowClientHoldsTheWorkerBack(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	sent := make(chan int64, 1)
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		if _, _, ok := c.next(); !ok {
			return
		}
		c.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
		_ = c.SetWriteDeadline(time.Now().Add(300 * time.Millisecond)) // long enough for the buffers to fill
		n, _ := io.Copy(c.Conn, io.LimitReader(&counting{}, 1000000000))
		sent <- n
	}))
	c := b.raw(t)
	c.send("GET / HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
	if n := <-sent; n > 100<<20 {
		t.Errorf("%d bytes were read from the worker for a client that does not read", n)
	}
}

package gateway_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func unavailable(t *testing.T, resp answer) {
	t.Helper()
	if resp.StatusCode != http.StatusBadGateway || resp.Header.Get("Svc-Error") != "runtime_unavailable" || resp.Header.Get("X-Request-Id") == "" {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
}

func TestRuntimeDiesBeforeAnswering(t *testing.T) { engines(t, testRuntimeDiesBeforeAnswering) }

func testRuntimeDiesBeforeAnswering(t *testing.T, engine gateway.Engine) {
	for name, answer := range map[string]string{
		"nothing": "", "half a head": "HTTP/1.1 200 OK\r\nContent-Le", "no HTTP": "SSH-2.0-x\r\n\r\n",
		"ambiguous": "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"endless":   "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: "+strings.Repeat("b", 1000)+"\r\n", 1100),
		"switch":    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "ambiguous" && engine == gateway.EngineStd {
				return // net/http uses the chunks
			}
			b := start(t, gateway.Config{Engine: engine})
			var connections atomic.Int64
			b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
				connections.Add(1)
				if _, _, ok := c.next(); ok {
					_, _ = c.Write([]byte(answer))
				}
			}))
			for _, method := range []string{"GET", "POST"} {
				resp, body := b.do(t, request(t, method, "v1.shop.apps.test", "/", nil))
				unavailable(t, resp)
				if strings.Contains(body, "SSH") {
					t.Error(body)
				}
				svctest.Eventually(t, "the log names the runtime", func() bool { return strings.Contains(b.log.String(), "runtime did not answer") })
			}
			if n := connections.Load(); n != 2 {
				t.Errorf("%d connections: a request on a fresh connection is not repeated", n)
			}
		})
	}
}

// TestRuntimeDiesWithinItsAnswer checks that a response that ends early does not
// look complete.
func TestRuntimeDiesWithinItsAnswer(t *testing.T) { engines(t, testRuntimeDiesWithinItsAnswer) }

func testRuntimeDiesWithinItsAnswer(t *testing.T, engine gateway.Engine) {
	for name, answer := range map[string]string{
		"length":     "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
		"chunks":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
		"bad chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz",
		"long":       "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat("x", 300000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, gateway.Config{Engine: engine})
			b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
				if _, _, ok := c.next(); ok {
					c.send(answer)
				}
			}))
			for _, version := range []string{"1.1", "1.0"} {
				c := b.raw(t)
				c.send("GET / HTTP/" + version + "\r\nHost: v1.shop.apps.test\r\n\r\n")
				resp, err := http.ReadResponse(c.Reader, nil)
				if err == nil {
					_, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				if err == nil {
					t.Errorf("HTTP/%s: the response looks complete", version)
				}
			}
		})
	}
}

// TestStaleConnection checks that a request is sent again if the runtime closed the
// spare connection without reading it, and only then.
func TestStaleConnection(t *testing.T) { engines(t, testStaleConnection) }

func testStaleConnection(t *testing.T, engine gateway.Engine) {
	const (
		before = iota // the runtime closes the connection before the second request
		unread        // … when the second request has come, without reading it
		read          // … when it has read the second request
	)
	for name, tc := range map[string]struct {
		method, body string
		closes, want int
	}{
		"get":               {"GET", "", before, 200},
		"get, unread":       {"GET", "", unread, 200},
		"get, read":         {"GET", "", read, 502},
		"head, read":        {"HEAD", "", read, 502},
		"post":              {"POST", "x", before, 200},
		"post, unread":      {"POST", "x", unread, 502},
		"post, read":        {"POST", "x", read, 502},
		"delete, unread":    {"DELETE", "", unread, 200},
		"delete, read":      {"DELETE", "", read, 502},
		"get, body, unread": {"GET", "x", unread, 502},
		"get, body, read":   {"GET", "x", read, 502},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, gateway.Config{Engine: engine})
			closed := make(chan struct{})
			b.ready(shop, fakeRuntime(t, func(n int, c *raw) {
				if _, _, ok := c.next(); !ok {
					return
				}
				c.reply("200 OK", "")
				switch {
				case n > 1 || tc.closes == read:
					_, _, _ = c.next()
				case tc.closes == unread:
					c.awaitBytes()
				}
				c.Close()
				if n == 1 {
					close(closed)
				}
			}))
			b.get(t, "v1.shop.apps.test", "/")
			if tc.closes == before {
				svctest.Wait(t, "the runtime closes", closed)
			}
			resp, _ := b.do(t, request(t, tc.method, "v1.shop.apps.test", "/", strings.NewReader(tc.body)))
			if resp.StatusCode != tc.want {
				t.Errorf("%s, want %d", resp.Status, tc.want)
			}
		})
	}
}

// awaitBytes waits for bytes on the connection and leaves them unread.
func (r *raw) awaitBytes() {
	conn, ok := r.Conn.(*net.UnixConn)
	if !ok {
		r.t.Error("not a unix socket")
		return
	}
	raw, err := conn.SyscallConn()
	if err == nil {
		err = raw.Read(func(fd uintptr) bool {
			n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
			return n > 0 || err == nil // else EAGAIN
		})
	}
	if err != nil {
		r.t.Error(err)
	}
}

// TestRequestIsSentOnce checks that a request that ends its runtime does not reach the runtime that comes after it.
func TestRequestIsSentOnce(t *testing.T) { engines(t, testRequestIsSentOnce) }

func testRequestIsSentOnce(t *testing.T, engine gateway.Engine) {
	for _, method := range []string{"GET", "HEAD", "POST"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			b := start(t, gateway.Config{Engine: engine})
			var after atomic.Int64
			successor := fakeRuntime(t, func(_ int, c *raw) {
				for {
					req, _, ok := c.next()
					if !ok {
						return
					}
					if req.URL.Path == "/deadly" {
						after.Add(1)
					}
					c.reply("200 OK", "")
				}
			})
			b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
				for {
					req, _, ok := c.next()
					if !ok {
						return
					}
					if req.URL.Path == "/deadly" {
						b.ready(shop, successor) // before the connection ends
						return
					}
					c.reply("200 OK", "")
				}
			}))
			b.get(t, "v1.shop.apps.test", "/") // leaves a spare connection
			resp, _ := b.do(t, request(t, method, "v1.shop.apps.test", "/deadly", nil))
			unavailable(t, resp)
			if resp, _ := b.get(t, "v1.shop.apps.test", "/"); resp.StatusCode != http.StatusOK || after.Load() != 0 {
				t.Errorf("the successor answers %s and got the request %d times", resp.Status, after.Load())
			}
		})
	}
}

func TestNoRuntime(t *testing.T) { engines(t, testNoRuntime) }

func testNoRuntime(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, filepath.Join(svctest.ShortDir(t), "absent"))
	resp, _ := b.get(t, "v1.shop.apps.test", "/")
	unavailable(t, resp)

	// The supervisor detects a crash while the request waits.
	answers := make(chan string)
	go func() {
		resp, body := b.do(t, request(t, http.MethodPost, "v1.shop.apps.test", "/", strings.NewReader("x")))
		answers <- fmt.Sprint(resp.StatusCode, body)
	}()
	svctest.Eventually(t, "the request waits for the runtime", func() bool { return b.Inflight() == 1 })
	b.ready(shop, always(t, "back"))
	if got := <-answers; got != "200back" {
		t.Errorf("%s\n%s", got, b.log.String())
	}
}

// TestRetiredRuntimeFinishes checks that claimed requests continue when their version
// is removed.
func TestRetiredRuntimeFinishes(t *testing.T) { engines(t, testRetiredRuntimeFinishes) }

func testRetiredRuntimeFinishes(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	w := startWorker(t, "v1")
	b.ready(shop, w.socket)
	answers := make(chan string)
	go func() { _, body := b.get(t, "v1.shop.apps.test", "/wait?id=x"); answers <- body }()
	svctest.Eventually(t, "the request is in flight", func() bool { return b.Routes()[0].Inflight == 1 })
	b.RemoveVersion(shop)
	if resp, _ := b.get(t, "v1.shop.apps.test", "/"); resp.StatusCode != http.StatusNotFound {
		t.Error(resp.Status)
	}
	w.release("x")
	if got := <-answers; got != "waited" {
		t.Error(got)
	}
}

func TestFullAcceptQueue(t *testing.T) { engines(t, testFullAcceptQueue) }

func testFullAcceptQueue(t *testing.T, engine gateway.Engine) {
	if _, err := os.Stat("/proc/sys/net/core/somaxconn"); err != nil {
		t.Log("the length of the queue is unknown; the requests must be answered anyway")
	}
	b := start(t, gateway.Config{Engine: engine})
	b.ready(shop, startWorker(t, "v1").socket)
	const n = 300
	codes := make(chan int, n)
	for range n {
		go func() {
			c := b.raw(t)
			c.send("GET /version HTTP/1.1\r\nHost: v1.shop.apps.test\r\nConnection: close\r\n\r\n")
			resp, err := http.ReadResponse(c.Reader, nil)
			if err != nil {
				codes <- 0
				return
			}
			resp.Body.Close()
			codes <- resp.StatusCode
		}()
	}
	for range n {
		if code := <-codes; code != 200 {
			t.Errorf("status %d", code)
		}
	}
}

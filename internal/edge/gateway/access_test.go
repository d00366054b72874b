package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestAccess(t *testing.T) { engines(t, testAccess) }

// testAccess: an access log hears of requests of workers and of those that the gateway
// answers itself, and of the visitor behind a trusted proxy. A request that cannot be read
// has nothing of the one before it.
func testAccess(t *testing.T, engine gateway.Engine) {
	lines := make(chan string, 10)
	b := start(t, gateway.Config{Engine: engine, Access: func(a gateway.Access) {
		lines <- fmt.Sprintf("%s %s %s %s 1.%d %d %s %s %s", a.Client, a.Host, a.Method, a.Target, a.Minor, a.Status, a.Referer, a.Agent, a.Error)
	}})
	w := startWorker(t, "v1")
	b.ready(shop, w.socket)
	c := b.raw(t)
	for _, step := range []struct{ head, want string }{
		{
			"GET /version?a=b HTTP/1.1\r\nHost: v1.shop.apps.test\r\nX-Forwarded-For: 192.0.2.7\r\nReferer: https://x.test/\r\nUser-Agent: test\r\n\r\n",
			"192.0.2.7 v1.shop.apps.test GET /version?a=b 1.1 200 https://x.test/ test ",
		},
		{"GET /other HTTP/1.1\r\nHost: absent.apps.test\r\n\r\n", "127.0.0.1 absent.apps.test GET /other 1.1 404   route_not_found"},
		{"malformed\r\n\r\n", "127.0.0.1    1.1 400   bad_request"},
	} {
		c.send(step.head)
		c.answer("GET")
		if got := svctest.Wait(t, "the line", lines); got != step.want {
			t.Errorf("got  %s\nwant %s", got, step.want)
		}
	}
}

func TestAccessBytes(t *testing.T) { engines(t, testAccessBytes) }

// testAccessBytes: an access log has the bytes of each body as the client gets it: of a known
// length, in chunks, compressed, and of the gateway's own answers.
func testAccessBytes(t *testing.T, engine gateway.Engine) {
	sent := make(chan int64, 10)
	b := start(t, gateway.Config{Engine: engine, Compress: true, Access: func(a gateway.Access) { sent <- a.Bytes }})
	b.ready(shop, replying(t, strings.Repeat("the same text again ", 5_000)))
	c := b.raw(t)
	for name, step := range map[string]struct{ method, host, fields string }{
		"length":     {"GET", "v1.shop", ""},
		"head":       {"HEAD", "v1.shop", ""},
		"chunks":     {"GET", "v1.shop", "X-Stream: yes\r\n"},
		"compressed": {"GET", "v1.shop", "Accept-Encoding: gzip\r\n"},
		"both":       {"GET", "v1.shop", "Accept-Encoding: gzip\r\nX-Stream: yes\r\n"},
		"refused":    {"GET", "absent", ""},
	} {
		c.send(step.method + " / HTTP/1.1\r\nHost: " + step.host + ".apps.test\r\nX-Head: " + jsonHead + "\r\n" + step.fields + "\r\n")
		_, body := c.answer(step.method)
		if got := svctest.Wait(t, "the line", sent); got != int64(len(body)) {
			t.Errorf("%s: %d bytes in the log, %d received", name, got, len(body))
		}
	}
}

func TestAccessOfABadBody(t *testing.T) { engines(t, testAccessOfABadBody) }

// testAccessOfABadBody: what a client sends behind a body that is refused changes nothing in
// the line of its request.
func testAccessOfABadBody(t *testing.T, engine gateway.Engine) {
	lines := make(chan string, 1)
	b := start(t, gateway.Config{Engine: engine, Access: func(a gateway.Access) {
		lines <- fmt.Sprintf("%s %s %s %d", a.Host, a.Method, a.Target, a.Status)
	}})
	b.ready(shop, always(t, ""))
	c := b.raw(t)
	c.send("POST /path HTTP/1.1\r\nHost: v1.shop.apps.test\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n")
	c.answer("POST")
	c.send(strings.Repeat("z", 1000))
	c.closeWrite()
	if got, want := svctest.Wait(t, "the line", lines), "v1.shop.apps.test POST /path 400"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

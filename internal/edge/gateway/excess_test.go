package gateway_test

import (
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
)

// TestExcessBytes has a runtime that sends more than the length of its response, behind a
// head that has arrived before: the bytes are no response to the next request.
func TestExcessBytes(t *testing.T) { engines(t, testExcessBytes) }

func testExcessBytes(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	seen := make(chan struct{}, 3)
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		for {
			if _, _, ok := c.next(); !ok {
				return
			}
			c.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n")
			<-seen
			c.send("aHTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
		}
	}))
	c := b.raw(t)
	for range 3 {
		c.send("GET / HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
		if engine != gateway.EngineStd { // which sends the head with the body
			if _, err := c.Peek(1); err != nil {
				t.Fatal(err)
			}
		}
		seen <- struct{}{}
		if resp, body := c.answer("GET"); resp.StatusCode != http.StatusOK || body != "a" {
			t.Errorf("%s %q", resp.Status, body)
		}
	}
}

package gateway_test

import (
	"io"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestClientLeavesInTrailers has a client that closes its connection before the end of the
// trailers of its request. The client left: its request is not malformed.
func TestClientLeavesInTrailers(t *testing.T) { engines(t, testClientLeavesInTrailers) }

func testClientLeavesInTrailers(t *testing.T, engine gateway.Engine) {
	seen := &observer{}
	b := start(t, gateway.Config{Engine: engine, Observer: seen})
	begun := make(chan struct{})
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		if _, _, err := readHead(c.Reader); err == nil {
			close(begun)
			_, _ = io.Copy(io.Discard, c.Conn)
		}
	}))
	c := b.raw(t)
	c.send("POST / HTTP/1.1\r\nHost: v1.shop.apps.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nSum: 7")
	svctest.Wait(t, "the request reaches the runtime", begun)
	c.Close()
	svctest.Eventually(t, "the request is over", func() bool { return b.Inflight() == 0 })
	if got := seen.take(); len(got) != 1 || got[0].Status != gateway.StatusClientGone || got[0].Error != "" {
		t.Errorf("observed %+v", got)
	}
}

package gateway_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
)

// TestTwoLengths has a request with two lengths of its body. The engine std serves it by the
// chunks, and ends the connection: what follows may be a part of the body.
func TestTwoLengths(t *testing.T) {
	t.Parallel()
	b := start(t, gateway.Config{Engine: gateway.EngineStd})
	b.ready(shop, always(t, "hello"))
	const host, next = "\r\nHost: v1.shop.apps.test\r\n", "GET /next HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n"
	for _, fields := range []string{
		"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
		"transfer-encoding: Chunked\r\ncontent-length: 4\r\n\r\n",
		"Transfer-Encoding: chunked\nContent-Length: 4\n\n",
	} {
		c := b.raw(t)
		c.send("GET / HTTP/1.1" + host + "\r\n") // an innocent one before
		if _, body := c.answer("GET"); body != "hello" {
			t.Fatalf("%q", body)
		}
		c.send("POST / HTTP/1.1" + host + fields + "1\r\na\r\n0\r\n\r\n" + next)
		if resp, body := c.answer("POST"); body != "hello" || !resp.Close {
			t.Errorf("%q: %q %v", fields, body, resp.Header)
		}
		c.ended()
	}
	c := b.raw(t)
	for _, framing := range []string{"Content-Length: 1\r\n\r\na", "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "Content-Length: 1\r\n\r\na"} {
		c.send("POST / HTTP/1.1" + host + framing)
		if resp, body := c.answer("POST"); body != "hello" || resp.Close {
			t.Errorf("one length, %q: %q %v", framing, body, resp.Header)
		}
	}
}

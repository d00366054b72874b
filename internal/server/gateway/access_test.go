package gateway_test

import (
	"fmt"
	"testing"

	"github.com/svcctl/svcctl/internal/server/gateway"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestAccess(t *testing.T) { engines(t, testAccess) }

// testAccess: an access log hears of requests of workers and of those that the gateway
// answers itself, and of the visitor behind a trusted proxy.
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
	} {
		c.send(step.head)
		c.answer("GET")
		if got := svctest.Wait(t, "the line", lines); got != step.want {
			t.Errorf("got  %s\nwant %s", got, step.want)
		}
	}
}

package gateway_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestLastUse: a request in progress and an open websocket are use now [D24].
func TestLastUse(t *testing.T) { engines(t, testLastUse) }

func testLastUse(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	w := startWorker(t, "v1")
	b.ready(shop, w.socket)
	if at := b.LastUse(shop); !at.IsZero() || !b.LastUse(svc.Ref{Project: "shop", Version: "none"}).IsZero() {
		t.Errorf("without a request: %s", at)
	}
	b.get(t, "v1.shop.apps.test", "/")
	over := b.LastUse(shop)
	if over.IsZero() || over.After(time.Now()) {
		t.Errorf("after a request: %s", over)
	}
	c := b.raw(t)
	c.send("GET /hang?id=1 HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
	svctest.Wait(t, "the request", w.gate("began-1"))
	if before := time.Now(); b.LastUse(shop).Before(before) {
		t.Error("a request in progress is no use")
	}
	c.Close()
	svctest.Eventually(t, "the request has ended", func() bool { return b.LastUse(shop).Equal(b.LastUse(shop)) })
	b.websocket(t, "v1.shop.apps.test")
	if before := time.Now(); b.LastUse(shop).Before(before) {
		t.Error("an open websocket is no use")
	}
}

package gateway_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// fragile is an observer that panics for a path.
type fragile struct{ observer }

func (f *fragile) ObserveRequest(o gateway.Observation) {
	if string(o.Target) == "/panic" {
		panic("the observer fails")
	}
	f.observer.ObserveRequest(o)
}

// TestPanicEndsOneConnection checks that a panic ends the connection of its request, whose
// claim ends, and no other one.
func TestPanicEndsOneConnection(t *testing.T) { engines(t, testPanicEndsOneConnection) }

func testPanicEndsOneConnection(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, Observer: &fragile{}})
	w := startWorker(t, "v1")
	b.ready(shop, w.socket)
	other := b.raw(t)
	other.send("GET /wait?id=x HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
	svctest.Eventually(t, "a request is in flight", func() bool { return b.Inflight() == 1 })
	for _, host := range []string{"v1.shop.apps.test", "absent.apps.test"} {
		c := b.raw(t)
		c.send("GET /panic HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
		_, _ = c.WriteTo(&svctest.Buffer{}) // to the end of the connection
		svctest.Eventually(t, "the request is over", func() bool { return b.Inflight() == 1 && b.Connections() == 1 })
	}
	svctest.Eventually(t, "the log has the panic", func() bool { return strings.Contains(b.log.String(), "the observer fails") })
	w.release("x")
	if _, body := other.answer("GET"); body != "waited" {
		t.Errorf("%q", body)
	}
}

// TestSpareConnectionsOfARetiredRuntime checks that a retired runtime loses its spare
// connections immediately.
func TestSpareConnectionsOfARetiredRuntime(t *testing.T) {
	engines(t, testSpareConnectionsOfARetiredRuntime)
}

func testSpareConnectionsOfARetiredRuntime(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	closed := make(chan struct{}, 1)
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		for {
			if _, _, ok := c.next(); !ok {
				closed <- struct{}{}
				return
			}
			c.reply("200 OK", "")
		}
	}))
	b.get(t, "v1.shop.apps.test", "/")
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusArchived})
	svctest.Wait(t, "the spare connection is closed", closed)
}

// stuckHandler is a log that waits.
type stuckHandler struct {
	slog.Handler
	proceed chan struct{}
}

func (h stuckHandler) Handle(ctx context.Context, r slog.Record) error {
	<-h.proceed
	return h.Handler.Handle(ctx, r)
}

func (h stuckHandler) WithAttrs(a []slog.Attr) slog.Handler {
	return stuckHandler{h.Handler.WithAttrs(a), h.proceed}
}

// TestLoopDoesNotWaitForTheLog has a log that takes no lines for a while.
func TestLoopDoesNotWaitForTheLog(t *testing.T) {
	t.Parallel()
	log, proceed := &svctest.Buffer{}, make(chan struct{})
	b := start(t, gateway.Config{
		Engine: gateway.EngineLoop,
		Logger: slog.New(stuckHandler{slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}), proceed}),
	})
	b.ready(shop, always(t, "hello"))
	const n = 2000 // more lines than may wait
	c := b.raw(t)
	for range n {
		c.send(hello)
		if resp, _ := c.answer(http.MethodGet); resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status)
		}
	}
	close(proceed)
	svctest.Eventually(t, "the log counts the lines that it lacks", func() bool { return strings.Contains(log.String(), "log lines dropped") })
}

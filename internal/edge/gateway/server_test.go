package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestShutdownWaits(t *testing.T) { engines(t, testShutdownWaits) }

func testShutdownWaits(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	w := startWorker(t, "v1")
	b.ready(shop, w.socket)
	b.SetProduction("shop", "v1")
	idle := b.raw(t)
	idle.send("GET /version HTTP/1.1\r\nHost: shop.apps.test\r\n\r\n")
	idle.answer("GET")
	busy := b.raw(t)
	busy.send("GET /wait?id=x HTTP/1.1\r\nHost: shop.apps.test\r\n\r\n")
	svctest.Eventually(t, "a request is in flight", func() bool { return b.Routes()[0].Inflight == 1 })
	socket := b.websocket(t, "shop.apps.test")
	b.Hold("shop")
	held := b.raw(t)
	held.send("GET / HTTP/1.1\r\nHost: shop.apps.test\r\n\r\n")
	svctest.Eventually(t, "a request is held", func() bool { return b.Held() == 1 })
	b.CloseWebsockets(shop, "", time.Hour)

	done := make(chan error)
	go func() { done <- b.Shutdown(t.Context()) }()
	idle.ended()
	if code := socket.closed(); code != 1012 {
		t.Errorf("close code %d", code)
	}
	if resp, _ := held.answer("GET"); resp.StatusCode != http.StatusServiceUnavailable || !resp.Close {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
	b.closesPort(t)
	select {
	case err := <-done:
		t.Fatalf("Shutdown did not wait for the request: %v", err)
	default:
	}
	w.release("x")
	if resp, body := busy.answer("GET"); body != "waited" || !resp.Close {
		t.Errorf("%q %v", body, resp.Header)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if b.PendingTimers() != 0 {
		t.Error("a timer is still pending")
	}
	if err := b.Serve(t.Context(), mustListen(t)); err != nil {
		t.Errorf("Serve after Shutdown: %v", err)
	}
}

func TestShutdownAnswersAcceptedConnections(t *testing.T) {
	engines(t, testShutdownAnswersAcceptedConnections)
}

// testShutdownAnswersAcceptedConnections: a request that is on its way on a new
// connection when the gateway stops is answered.
func testShutdownAnswersAcceptedConnections(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, FreshTime: timeout})
	w := startWorker(t, "v1")
	b.ready(shop, w.socket)
	c, silent := b.raw(t), b.raw(t)
	svctest.Eventually(t, "the connections are accepted", func() bool { return b.Connections() == 2 })
	done := make(chan error)
	go func() { done <- b.Shutdown(t.Context()) }()
	b.closesPort(t)
	c.send("GET /version HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
	if resp, body := c.answer("GET"); resp.StatusCode != http.StatusOK || !resp.Close {
		t.Errorf("%s %q", resp.Status, body)
	}
	c.ended()
	silent.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestShutdownEndsSilentConnections(t *testing.T) { engines(t, testShutdownEndsSilentConnections) }

// testShutdownEndsSilentConnections: a new connection without a request does not keep the
// gateway from stopping.
func testShutdownEndsSilentConnections(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, FreshTime: 10 * time.Millisecond})
	silent := b.raw(t)
	svctest.Eventually(t, "the connection is accepted", func() bool { return b.Connections() == 1 })
	if err := b.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	silent.ended()
}

// closesPort waits until the port is closed: a process that another test starts has the
// listener until its program runs.
func (b *bench) closesPort(t *testing.T) {
	t.Helper()
	svctest.Eventually(t, "the port is closed", func() bool {
		nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", b.addr)
		if err == nil {
			_ = nc.Close()
		}
		return err != nil
	})
}

func mustListen(t *testing.T) net.Listener {
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func TestShutdownCutsOff(t *testing.T) { engines(t, testShutdownCutsOff) }

func testShutdownCutsOff(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	w := startWorker(t, "v1")
	b.ready(shop, w.socket)
	c := b.raw(t)
	c.send("GET /hang?id=x HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
	svctest.Wait(t, "the request arrives", w.gate("began-x"))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := b.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	svctest.Wait(t, "the worker is cancelled", w.gate("aborted-x"))
}

func TestSlowHeadsAndIdleConnectionsEnd(t *testing.T) { engines(t, testSlowHeadsAndIdleConnectionsEnd) }

func testSlowHeadsAndIdleConnectionsEnd(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, IdleTimeout: 10 * time.Millisecond, HeaderTimeout: 10 * time.Millisecond, SweepEvery: sweep})
	slow, idle := b.raw(t), b.raw(t)
	slow.send("GET / HTTP/1.1\r\nHost:")
	for _, c := range []*raw{slow, idle} {
		if rest, _ := io.ReadAll(c.Reader); len(rest) > 0 {
			t.Errorf("%q", rest)
		}
	}
}

// observer records its calls.
type observer struct {
	mu       sync.Mutex
	requests []gateway.Observation
	sockets  []string
}

func (o *observer) ObserveRequest(r gateway.Observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r.ID, r.ClientID, r.Method, r.Target = bytes.Clone(r.ID), bytes.Clone(r.ClientID), bytes.Clone(r.Method), bytes.Clone(r.Target)
	r.Trace, r.Parent = bytes.Clone(r.Trace), bytes.Clone(r.Parent)
	o.requests = append(o.requests, r)
}

func (o *observer) ObserveWebsocket(ref svc.Ref, role svc.Role, delta int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sockets = append(o.sockets, fmt.Sprint(ref, role, delta))
}

func (o *observer) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.requests) + len(o.sockets)
}

func TestObserver(t *testing.T) { engines(t, testObserver) }

func testObserver(t *testing.T, engine gateway.Engine) {
	o := &observer{}
	log := &svctest.Buffer{}
	b := start(t, gateway.Config{Engine: engine, Observer: o, Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	w := startWorker(t, "v1")
	b.ready(shop, w.socket)
	b.SetProduction("shop", "v1")
	step := func(n int) {
		t.Helper()
		svctest.Eventually(t, "the observer is called", func() bool { return o.count() == n })
	}
	b.get(t, "shop.apps.test", "/status?code=404")
	step(1)
	b.get(t, "absent.apps.test", "/secret-path")
	step(2)
	c := b.raw(t)
	c.send("GET / HTTP/3.0\r\n\r\n")
	c.answer("GET")
	step(3)
	c = b.raw(t)
	c.send("GET /hang?id=a HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
	svctest.Wait(t, "the request arrives", w.gate("began-a"))
	c.Close()
	step(4)
	s := b.websocket(t, "v1.shop.apps.test")
	step(6)
	s.Close()
	step(7)
	want := []gateway.Observation{
		{Ref: shop, Role: svc.RoleProduction, Status: 404},
		{Status: 404, Error: "route_not_found"},
		{Status: 505, Error: "bad_request"},
		{Ref: shop, Role: svc.RolePreview, Status: 499},
		{Ref: shop, Role: svc.RolePreview, Status: 101},
	}
	if diff := cmp.Diff(want, o.requests, cmpopts.IgnoreFields(gateway.Observation{}, "Bytes", "Duration", "Start", "ID", "ClientID", "Method", "Target")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"shop/v1preview1", "shop/v1preview-1"}, o.sockets); diff != "" {
		t.Error(diff)
	}
	svctest.Eventually(t, "the log has the requests", func() bool { return strings.Count(log.String(), "msg=request") == 5 })
	if strings.Contains(log.String(), "secret-path") {
		t.Error("a path was logged; paths may hold secrets")
	}
}

package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/fleet/relay"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// origin is a gateway beside the runtimes, which admits the requests of others.
type origin struct {
	*bench
	server     *httptest.Server
	relay      *relay.Server
	generation atomic.Uint64
}

func startOrigin(t testing.TB) *origin {
	t.Helper()
	return startOriginWith(t, gateway.Config{})
}

func startOriginWith(t testing.TB, cfg gateway.Config) *origin {
	t.Helper()
	o := &origin{bench: start(t, cfg)}
	moved := func(err error) error {
		if m, ok := errors.AsType[*relay.MovedError](err); ok {
			m.Generation = o.generation.Load()
		}
		return err
	}
	o.relay = relay.NewServer(relay.Config{
		Admit: func(a relay.Ask) (relay.Admission, error) { adm, err := o.Admit(a); return adm, moved(err) },
		Known: func(a relay.Ask) error {
			if !o.Knows(a) {
				return moved(&relay.MovedError{})
			}
			return nil
		},
		Logger: slog.New(slog.DiscardHandler),
	})
	o.server = httptest.NewServer(o.relay)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		if err := o.relay.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		o.server.Close()
	})
	return o
}

// ready makes ref a ready version with a key.
func (o *origin) ready(ref svc.Ref, socket string) {
	o.SetVersion(ref, svc.Upstream{Status: svc.StatusReady, Endpoint: svc.Endpoint{Socket: socket, PID: 1, PortKey: "key of " + ref.Version}})
}

// edge is a gateway that reaches runtimes through a relay.
type edge struct {
	*bench
	dialer relay.Dialer
	down   atomic.Bool

	mu         sync.Mutex
	generation uint64
	waiting    map[uint64]chan struct{}
}

func startEdge(t testing.TB, o *origin, cfg gateway.Config) *edge {
	t.Helper()
	e := &edge{waiting: map[uint64]chan struct{}{}}
	addr := o.server.Listener.Addr().String()
	e.dialer = relay.Dialer{Host: addr, Connect: func(ctx context.Context) (net.Conn, error) {
		if e.down.Load() {
			return nil, errors.New("the relay is down")
		}
		return new(net.Dialer).DialContext(ctx, "tcp", addr)
	}}
	cfg.Relay = e
	e.bench = start(t, cfg)
	return e
}

func (e *edge) Dial(ctx context.Context, d relay.Destination) (*relay.Conn, error) {
	if d.Address != "" {
		return relay.DialMachine(ctx, d)
	}
	return e.dialer.Dial(ctx, d.Ref, d.Key)
}

func (e *edge) Newer(generation uint64) <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	ch := e.waiting[generation]
	if ch == nil {
		ch = make(chan struct{})
		if e.generation >= generation {
			close(ch)
			return ch
		}
		e.waiting[generation] = ch
	}
	return ch
}

// reach makes the gateway's routes those of a generation.
func (e *edge) reach(generation uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.generation = generation
	for g, ch := range e.waiting {
		if g <= generation {
			close(ch)
			delete(e.waiting, g)
		}
	}
}

func (e *edge) ready(ref svc.Ref) {
	e.SetVersion(ref, svc.Upstream{Status: svc.StatusReady, Endpoint: svc.Endpoint{Socket: "relay", PID: 1, PortKey: "key of " + ref.Version}})
}

// TestRelay sends requests of each form through a relay: to the same connection, with bodies
// of all sizes, early answers, and after the runtime has closed its connection.
func TestRelay(t *testing.T) { engines(t, testRelay) }

func testRelay(t *testing.T, engine gateway.Engine) {
	o := startOrigin(t)
	w := startWorker(t, "v1")
	o.ready(shop, w.socket)
	e := startEdge(t, o, gateway.Config{Engine: engine})
	e.ready(shop)
	for _, size := range []int{0, 1, 5_000, 200_000, 3_000_000} {
		body := strings.Repeat("x", size)
		resp, got := e.do(t, request(t, http.MethodPost, "v1.shop.apps.test", "/echo", strings.NewReader(body)))
		if resp.StatusCode != http.StatusOK || !strings.Contains(got, body) || len(got) > size+2000 {
			t.Errorf("a body of %d bytes: %s, %d bytes", size, resp.Status, len(got))
		}
		resp, got = e.do(t, request(t, http.MethodPost, "v1.shop.apps.test", "/echo", io.MultiReader(strings.NewReader(body))))
		if resp.StatusCode != http.StatusOK || !strings.Contains(got, body) || len(got) > size+2000 {
			t.Errorf("a body of %d bytes in chunks: %s, %d bytes", size, resp.Status, len(got))
		}
		if _, got := e.get(t, "v1.shop.apps.test", "/version"); got != "v1" {
			t.Errorf("the answer is %q", got)
		}
	}
	svctest.Eventually(t, "no claim is left", func() bool { return inflight(o.Gateway) == 0 })
	if last := o.LastRequests()[shop]; time.Since(last) > timeout {
		t.Errorf("the last request was at %s", last)
	}
}

func inflight(g *gateway.Gateway) (n int) {
	for _, r := range g.Routes() {
		n += r.Inflight
	}
	return n
}

// TestRelayWrongKey: a request with the key of another start is not admitted, and waits for the
// routes that name the right one.
func TestRelayWrongKey(t *testing.T) { engines(t, testRelayWrongKey) }

func testRelayWrongKey(t *testing.T, engine gateway.Engine) {
	o := startOrigin(t)
	var seen atomic.Int64
	socket := fakeRuntime(t, func(_ int, c *raw) {
		for {
			if _, _, ok := c.next(); !ok {
				return
			}
			seen.Add(1)
			c.reply("200 OK", "right")
		}
	})
	o.ready(shop, socket)
	o.generation.Store(7)
	e := startEdge(t, o, gateway.Config{Engine: engine})
	e.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, Endpoint: svc.Endpoint{Socket: "relay", PortKey: "key of v0"}})
	answers := make(chan string)
	go func() { _, body := e.get(t, "v1.shop.apps.test", "/"); answers <- body }()
	svctest.Eventually(t, "the request waits", func() bool { return e.Held() == 1 })
	if seen.Load() != 0 {
		t.Error("the runtime saw a request with a wrong key")
	}
	e.ready(shop)
	e.reach(7)
	if got := <-answers; got != "right" {
		t.Errorf("the answer is %q", got)
	}
}

// TestBehind: a gateway that has not heard of a promote sends no request to the old production,
// on new connections and on those that it has, and none to the new one before it has the routes.
func TestBehind(t *testing.T) { engines(t, testBehind) }

func testBehind(t *testing.T, engine gateway.Engine) {
	o := startOrigin(t)
	v2 := svc.Ref{Project: "shop", Version: "v2"}
	e := startEdge(t, o, gateway.Config{Engine: engine})
	for _, ref := range []svc.Ref{shop, v2} {
		o.ready(ref, startWorker(t, ref.Version).socket)
		e.ready(ref)
	}
	o.SetProduction("shop", "v1")
	e.SetProduction("shop", "v1")
	if _, body := e.get(t, "shop.apps.test", "/version"); body != "v1" { // leaves a spare connection
		t.Fatalf("the answer is %q", body)
	}
	o.Hold("shop")
	o.generation.Store(2)
	o.SetProduction("shop", "v2")
	o.Release("shop")
	o.generation.Store(3)

	answers := make(chan string)
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodGet} {
		go func() {
			resp, body := e.do(t, request(t, method, "shop.apps.test", "/version", strings.NewReader(strings.Repeat("x", 100_000))))
			answers <- fmt.Sprint(resp.StatusCode, body)
		}()
	}
	svctest.Eventually(t, "the requests wait", func() bool { return e.Held() == 3 })
	if _, body := e.get(t, "v1.shop.apps.test", "/version"); body != "v1" {
		t.Errorf("the version's own host answers %q", body)
	}
	e.SetProduction("shop", "v2")
	e.reach(3)
	for range 3 {
		if got := <-answers; got != "200v2" {
			t.Error(got)
		}
	}
}

// TestBehindTooLong: the wait for routes that do not come ends with 503, as a hold does.
func TestBehindTooLong(t *testing.T) { engines(t, testBehindTooLong) }

func testBehindTooLong(t *testing.T, engine gateway.Engine) {
	o := startOrigin(t)
	e := startEdge(t, o, gateway.Config{Engine: engine, HoldTimeout: 30 * time.Millisecond})
	o.ready(shop, startWorker(t, "v1").socket)
	e.ready(shop)
	o.SetProduction("shop", "")
	o.generation.Store(1)
	e.SetProduction("shop", "v1")
	resp, _ := e.get(t, "shop.apps.test", "/version")
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Svc-Error") != svc.CodeVersionNotReady {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
	e.down.Store(true)
	resp, _ = e.get(t, "v1.shop.apps.test", "/version")
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Svc-Error") != svc.CodeRelayUnreachable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
}

// TestRelayBack: requests wait while the relay cannot be reached, and are answered when it is
// back.
func TestRelayBack(t *testing.T) { engines(t, testRelayBack) }

func testRelayBack(t *testing.T, engine gateway.Engine) {
	o := startOrigin(t)
	e := startEdge(t, o, gateway.Config{Engine: engine})
	o.ready(shop, startWorker(t, "v1").socket)
	e.ready(shop)
	e.down.Store(true)
	answers := make(chan string)
	go func() { _, body := e.get(t, "v1.shop.apps.test", "/version"); answers <- body }()
	svctest.Eventually(t, "the request waits", func() bool { return e.Held() == 1 })
	e.down.Store(false)
	if got := <-answers; got != "v1" {
		t.Errorf("the answer is %q", got)
	}
}

// TestRelayDrain: a hold and a drain beside the runtimes wait for the requests of other gateways,
// as does the drain of a version that was replaced.
func TestRelayDrain(t *testing.T) { engines(t, testRelayDrain) }

func testRelayDrain(t *testing.T, engine gateway.Engine) {
	o := startOrigin(t)
	w := startWorker(t, "v1")
	o.ready(shop, w.socket)
	o.SetProduction("shop", "v1")
	var clients []*raw
	for i := range 2 {
		e := startEdge(t, o, gateway.Config{Engine: engine})
		e.ready(shop)
		e.SetProduction("shop", "v1")
		c, id := e.raw(t), fmt.Sprint("hang-", i)
		c.send("GET /hang?id=" + id + " HTTP/1.1\r\nHost: shop.apps.test\r\n\r\n")
		svctest.Wait(t, id, w.gate("began-"+id))
		clients = append(clients, c)
	}
	if n := inflight(o.Gateway); n != 2 {
		t.Errorf("%d requests in flight", n)
	}
	o.Hold("shop")
	o.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, Starting: true})
	for i, c := range clients {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if o.DrainProduction(ctx, "shop") == nil || o.DrainVersion(ctx, shop) == nil {
			t.Errorf("a drain did not wait for request %d", i)
		}
		cancel()
		c.Close() // its end cancels the worker
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	if err := errors.Join(o.DrainProduction(ctx, "shop"), o.DrainVersion(ctx, shop)); err != nil {
		t.Error(err)
	}
}

// TestRelayWebsocket: a websocket passes a relay; a drain does not wait for it, and its version
// is in use.
func TestRelayWebsocket(t *testing.T) { engines(t, testRelayWebsocket) }

func testRelayWebsocket(t *testing.T, engine gateway.Engine) {
	o := startOrigin(t)
	socket := fakeRuntime(t, func(_ int, c *raw) {
		if _, _, ok := c.next(); ok {
			fmt.Fprint(c.Conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x02hi")
			_, _ = io.Copy(c.Conn, c.Reader) // echoes frames
		}
	})
	o.ready(shop, socket)
	o.SetProduction("shop", "v1")
	e := startEdge(t, o, gateway.Config{Engine: engine})
	e.ready(shop)
	e.SetProduction("shop", "v1")
	c := e.raw(t)
	c.send("GET / HTTP/1.1\r\nHost: shop.apps.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
	resp, err := http.ReadResponse(c.Reader, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v, %v", resp, err)
	}
	defer resp.Body.Close()
	hi := make([]byte, 4)
	if _, err := io.ReadFull(c, hi); err != nil || string(hi) != "\x81\x02hi" {
		t.Fatalf("%q, %v", hi, err)
	}
	svctest.Eventually(t, "the websocket is no request", func() bool { return inflight(o.Gateway) == 0 })
	if age := time.Since(o.LastUse(shop)); age > time.Second {
		t.Errorf("the last use was %s ago", age)
	}
	o.Hold("shop")
	if err := o.DrainProduction(t.Context(), "shop"); err != nil {
		t.Error(err)
	}
	e.CloseWebsockets(shop, svc.RoleProduction, 0)
	if b, err := c.ReadByte(); err != nil || b != 0x88 {
		t.Errorf("%x, %v", b, err)
	}
	c.Close()
	svctest.Eventually(t, "the version is no longer in use", func() bool { return time.Since(o.LastUse(shop)) > 10*time.Millisecond })
}

// TestRelayPreface: the relay refuses what is not its protocol.
func TestRelayPreface(t *testing.T) {
	t.Parallel()
	o := startOrigin(t)
	o.ready(shop, always(t, "x"))
	for want, preface := range map[string]string{
		"426": "Svc-Relay-Key: key of v1\r\n",
		"421": "Svc-Relay-Key: another\r\nConnection: Upgrade\r\nUpgrade: svc-relay\r\n",
		"101": "Svc-Relay-Key: key of v1\r\nConnection: Upgrade\r\nUpgrade: svc-relay\r\n",
	} {
		nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", o.server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = nc.SetDeadline(time.Now().Add(timeout))
		fmt.Fprintf(nc, "GET %s?project=shop&version=v1 HTTP/1.1\r\nHost: x\r\n%s\r\n", relay.Path, preface)
		in := bufio.NewReader(nc)
		if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 "+want) {
			t.Errorf("want %s: %q, %v", want, line, err)
		}
		if want == "101" {
			fmt.Fprint(nc, "X\xff\xff\xff") // no frame
			if _, err := io.ReadAll(in); err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
				t.Errorf("the connection was left open: %v", err)
			}
		}
		nc.Close()
	}
}

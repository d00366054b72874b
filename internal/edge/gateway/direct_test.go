package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/fleet/direct"
	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/fleet/relay"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// machine runs one version and admits requests to it itself.
type machine struct {
	gate    *direct.Gate
	address string
	pin     string

	mu       sync.Mutex // guards the fields below
	number   uint64
	granted  map[uint64]svc.Role
	heard    uint64
	use      gateway.MachineUse
	silent   chan struct{} // closed when the machine can be reached again; nil if it can
	revoking sync.WaitGroup
}

func startMachine(t testing.TB, ref svc.Ref, socket string) *machine {
	t.Helper()
	m := &machine{gate: direct.NewGate(), granted: map[uint64]svc.Role{}}
	m.gate.Serve(ref, "key of "+ref.Version, socket)
	gates := direct.NewGates()
	gates.Add(m.gate)
	r := relay.NewServer(relay.Config{Admit: gates.Admit, Known: gates.Known, Logger: slog.New(slog.DiscardHandler)})
	s := httptest.NewUnstartedServer(r)
	s.StartTLS()
	m.address, m.pin = s.Listener.Addr().String(), join.Pin(s.Certificate())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		if err := r.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		s.Close()
		m.revoking.Wait()
	})
	return m
}

// permit tells the gate what it is granted, twice: the second permit makes the first one valid.
func (m *machine) permit(ending uint64, wait time.Duration) control.Admitted {
	m.mu.Lock()
	m.number++
	p := control.Permit{Number: m.number, Limit: 4, For: time.Hour, Heard: m.heard}
	for id, role := range m.granted {
		p.Grants = append(p.Grants, control.Grant{ID: id, Role: role})
	}
	m.mu.Unlock()
	if wait > 0 {
		p.Ending, p.Wait = []uint64{ending}, wait
	}
	a, err := m.gate.Permit(context.Background(), p)
	if err != nil {
		panic(err) // its context does not end
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard = max(m.heard, a.Answer)
	m.use = gateway.MachineUse{Requests: a.Roles, Websockets: a.Websockets, Last: map[svc.Role]time.Time{}}
	for role, ago := range a.Used {
		m.use.Last[role] = time.Now().Add(-ago)
	}
	return a
}

func (m *machine) Grant(role svc.Role) uint64 {
	m.mu.Lock()
	m.number++
	id := m.number
	m.granted[id] = role
	m.mu.Unlock()
	m.permit(0, 0)
	m.permit(0, 0)
	return id
}

func (m *machine) Revoke(id uint64, revoked, ended func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.granted, id)
	silent := m.silent
	m.revoking.Go(func() {
		if silent != nil {
			<-silent
		}
		m.permit(0, 0)
		revoked()
		for m.permit(id, time.Hour).Requests[id] > 0 {
		}
		ended()
	})
}

func (m *machine) Used() gateway.MachineUse {
	m.permit(0, 0)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.use
}

// silence keeps what the gateway says from the machine until the returned function is called.
func (m *machine) silence() (end func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.silent = make(chan struct{})
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		close(m.silent)
		m.silent = nil
	})
}

// cluster is a gateway beside whose runtimes are machines, and one that reaches these by itself.
type cluster struct {
	*origin
	edge     *edge
	machines map[svc.Ref]*machine
	worker   *worker // of v1
	sockets  map[svc.Ref]string
}

var shop2 = svc.Ref{Project: "shop", Version: "v2"}

// startCluster has two versions, of which the first one is production.
func startCluster(t *testing.T, engine gateway.Engine) *cluster {
	t.Helper()
	c := &cluster{machines: map[svc.Ref]*machine{}, sockets: map[svc.Ref]string{}}
	c.origin = startOriginWith(t, gateway.Config{Machine: func(ref svc.Ref, key string) gateway.Machine {
		if key != "key of "+ref.Version {
			t.Errorf("%s has the key %q", ref, key)
		}
		return c.machines[ref]
	}})
	c.edge = startEdge(t, c.origin, gateway.Config{Engine: engine})
	c.worker = startWorker(t, "v1")
	c.sockets[shop], c.sockets[shop2] = c.worker.socket, always(t, "v2")
	for ref, socket := range c.sockets {
		c.machines[ref] = startMachine(t, ref, socket)
		c.serve(ref)
	}
	c.SetProduction("shop", "v1")
	c.edge.SetProduction("shop", "v1")
	return c
}

// serve makes ref a version that serves, for both gateways.
func (c *cluster) serve(ref svc.Ref) {
	m := c.machines[ref]
	u := svc.Upstream{Status: svc.StatusReady, Endpoint: svc.Endpoint{
		Socket: c.sockets[ref], PID: 1, PortKey: "key of " + ref.Version, Direct: m.address, DirectPin: m.pin,
	}}
	c.SetVersion(ref, u)
	u.Socket = "relay"
	c.edge.SetVersion(ref, u)
}

// hang sends a request that the worker of v1 does not answer, and waits until it has it.
func (c *cluster) hang(t *testing.T, host string) *raw {
	t.Helper()
	r := c.edge.raw(t)
	r.send("GET /hang?id=" + host + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
	svctest.Wait(t, "the request", c.worker.gate("began-"+host))
	return r
}

// TestDirect sends requests of each form to a machine, while the server cannot be reached. The server
// knows how its versions are used.
func TestDirect(t *testing.T) { engines(t, testDirect) }

func testDirect(t *testing.T, engine gateway.Engine) {
	c := startCluster(t, engine)
	c.edge.down.Store(true)
	for _, host := range []string{"shop.apps.test", "v1.shop.apps.test"} {
		for _, size := range []int{0, 5_000, 300_000} {
			body := strings.Repeat("x", size)
			if resp, got := c.edge.do(t, request(t, http.MethodPost, host, "/echo", strings.NewReader(body))); resp.StatusCode != http.StatusOK || !strings.Contains(got, body) {
				t.Errorf("%s, a body of %d bytes: %s, %d bytes", host, size, resp.Status, len(got))
			}
			if _, got := c.edge.get(t, host, "/version"); got != "v1" {
				t.Errorf("%s: the answer is %q", host, got)
			}
		}
	}
	if direct, server := c.edge.Ways(); direct != 12 || server != 0 {
		t.Errorf("%d requests went to the machine, %d through the server; want 12 and 0", direct, server)
	}
	if at := c.LastRequest(shop); time.Since(at) > timeout || at.IsZero() || !c.LastRequest(shop2).IsZero() {
		t.Errorf("the last requests were at %s and %s", at, c.LastRequest(shop2))
	}
	r := c.hang(t, "shop.apps.test")
	if n := inflight(c.Gateway); n != 1 || time.Since(c.LastUse(shop)) > time.Second || !c.IsWanted(shop) {
		t.Errorf("%d requests in flight, last use %s", n, c.LastUse(shop))
	}
	r.Close()
	svctest.Eventually(t, "no request in flight", func() bool { return inflight(c.Gateway) == 0 })
}

// TestDirectPromote: a gateway that has not heard of a promote sends no request to the production of
// before, which refuses it, and none to the new one before it has the routes.
func TestDirectPromote(t *testing.T) { engines(t, testDirectPromote) }

func testDirectPromote(t *testing.T, engine gateway.Engine) {
	c := startCluster(t, engine)
	if _, body := c.edge.get(t, "shop.apps.test", "/version"); body != "v1" { // leaves a spare connection
		t.Fatalf("the answer is %q", body)
	}
	c.generation.Store(3)
	c.Unshare("shop")
	if err := c.SettleProduction(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	if _, body := c.edge.get(t, "shop.apps.test", "/version"); body != "v1" { // through the server
		t.Errorf("the answer is %q", body)
	}
	c.Hold("shop")
	c.SetProduction("shop", "v2")
	c.Release("shop")
	c.Share("shop")
	answers := make(chan string)
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodGet} {
		go func() {
			resp, body := c.edge.do(t, request(t, method, "shop.apps.test", "/version", strings.NewReader(strings.Repeat("x", 100_000))))
			answers <- fmt.Sprint(resp.StatusCode, body)
		}()
	}
	svctest.Eventually(t, "the requests wait", func() bool { return c.edge.Held() == 3 })
	if _, body := c.edge.get(t, "v1.shop.apps.test", "/version"); body != "v1" {
		t.Errorf("the version's own host answers %q", body)
	}
	c.edge.SetProduction("shop", "v2")
	c.edge.reach(3)
	for range 3 {
		if got := <-answers; got != "200v2" {
			t.Error(got)
		}
	}
	c.edge.down.Store(true)
	svctest.Eventually(t, "the new production answers by its machine", func() bool {
		resp, body := c.edge.get(t, "shop.apps.test", "/version")
		return resp.StatusCode == http.StatusOK && body == "v2"
	})
}

// TestDirectDrain: holds and drains wait for requests that a machine has admitted.
func TestDirectDrain(t *testing.T) { engines(t, testDirectDrain) }

func testDirectDrain(t *testing.T, engine gateway.Engine) {
	c := startCluster(t, engine)
	c.edge.down.Store(true)
	production, own := c.hang(t, "shop.apps.test"), c.hang(t, "v1.shop.apps.test")
	drains := func(f func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		return f(ctx)
	}
	ofProduction := func(ctx context.Context) error { return c.DrainProduction(ctx, "shop") }
	ofVersion := func(ctx context.Context) error { return c.DrainVersion(ctx, shop) }
	c.Hold("shop")
	if err := c.SettleProduction(t.Context(), "shop"); err != nil {
		t.Error(err)
	}
	if drains(ofProduction) == nil {
		t.Error("the drain of production did not wait")
	}
	production.Close()
	if err := ofProduction(t.Context()); err != nil { // the other one is not production's
		t.Error(err)
	}
	c.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, Starting: true})
	if drains(ofVersion) == nil {
		t.Error("the drain of the version did not wait")
	}
	own.Close()
	if err := ofVersion(t.Context()); err != nil {
		t.Error(err)
	}
	if at := c.LastRequest(shop); time.Since(at) > timeout || at.IsZero() {
		t.Errorf("the last request was at %s", at)
	}
}

// TestDirectSilent: a machine that does not confirm that it has stopped keeps production from the next
// version, and a promote from its end.
func TestDirectSilent(t *testing.T) { engines(t, testDirectSilent) }

func testDirectSilent(t *testing.T, engine gateway.Engine) {
	c := startCluster(t, engine)
	speak := c.machines[shop].silence()
	defer speak()
	c.SetProduction("shop", "v2") // without a hold
	answers := make(chan string)
	go func() { _, body := c.get(t, "shop.apps.test", "/version"); answers <- body }()
	svctest.Eventually(t, "the request waits", func() bool { return c.Held() == 1 })
	if _, body := c.edge.get(t, "shop.apps.test", "/version"); body != "v1" {
		t.Errorf("a gateway that is behind: %q", body)
	}
	if _, body := c.get(t, "v2.shop.apps.test", "/version"); body != "v2" {
		t.Errorf("the version's own host: %q", body)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := c.SettleProduction(short, "shop"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("settled: %v", err)
	}
	c.Release("shop") // still not
	select {
	case body := <-answers:
		t.Fatalf("%s answered while the machine of v1 might", body)
	default:
	}
	speak()
	if body := <-answers; body != "v2" {
		t.Errorf("the answer is %q", body)
	}
	if err := c.SettleProduction(t.Context(), "shop"); err != nil {
		t.Error(err)
	}
	c.edge.SetProduction("shop", "v2")
	if _, body := c.edge.get(t, "shop.apps.test", "/version"); body != "v2" {
		t.Errorf("through the machine: %q", body)
	}
}

// TestInherited: production does not settle before the permits of an earlier server have ended.
func TestInherited(t *testing.T) {
	t.Parallel()
	b := start(t, gateway.Config{Inherited: time.Now().Add(timeout)})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := b.SettleProduction(ctx, "shop"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("settled: %v", err)
	}
	b = start(t, gateway.Config{Inherited: time.Now().Add(time.Millisecond)})
	if err := b.SettleProduction(t.Context(), "shop"); err != nil {
		t.Error(err)
	}
}

// TestDirectUnreachable: requests pass the server while a machine cannot be reached, or has another
// certificate; and those to preview names always do.
func TestDirectUnreachable(t *testing.T) { engines(t, testDirectUnreachable) }

func testDirectUnreachable(t *testing.T, engine gateway.Engine) {
	c := startCluster(t, engine)
	c.SetPreview("shop", "pr-1", "v1")
	c.edge.SetPreview("shop", "pr-1", "v1")
	if _, body := c.edge.get(t, "pr-1.shop.apps.test", "/version"); body != "v1" {
		t.Errorf("a preview name: %q", body)
	}
	if used := c.machines[shop].Used(); !used.Last[svc.RolePreview].IsZero() {
		t.Error("the machine has admitted a request to a preview name")
	}
	if direct, server := c.edge.Ways(); direct != 0 || server != 1 {
		t.Errorf("%d requests went to the machine, %d through the server; want 0 and 1", direct, server)
	}
	for ref, spoil := range map[svc.Ref]func(m *machine){
		shop:  func(m *machine) { m.address = "127.0.0.1:1" },
		shop2: func(m *machine) { m.pin = c.machines[shop].pin + "0" },
	} {
		spoil(c.machines[ref])
		c.serve(ref)
		host := ref.Version + ".shop.apps.test"
		for range 3 {
			if resp, body := c.edge.get(t, host, "/version"); body != ref.Version {
				t.Errorf("%s: %s %q", host, resp.Status, body)
			}
		}
		if used := c.machines[ref].Used(); !used.Last[svc.RolePreview].IsZero() {
			t.Errorf("%s was reached by its machine", ref)
		}
	}
}

// TestDirectLimit: a version has its maximum of requests also at its machine, and what that has
// admitted counts at the server.
func TestDirectLimit(t *testing.T) { engines(t, testDirectLimit) }

func testDirectLimit(t *testing.T, engine gateway.Engine) {
	c := startCluster(t, engine)
	for i := range 4 { // the limit of these machines
		r := c.edge.raw(t)
		id := fmt.Sprint("limit-", i)
		r.send("GET /hang?id=" + id + " HTTP/1.1\r\nHost: shop.apps.test\r\n\r\n")
		svctest.Wait(t, "the request", c.worker.gate("began-"+id))
	}
	if resp, _ := c.edge.get(t, "shop.apps.test", "/version"); resp.Header.Get("Svc-Error") != svc.CodeTooManyConnections {
		t.Errorf("the fifth: %s %v", resp.Status, resp.Header)
	}
}

// TestDirectWebsocket: a version whose machine has an open websocket is in use.
func TestDirectWebsocket(t *testing.T) { engines(t, testDirectWebsocket) }

func testDirectWebsocket(t *testing.T, engine gateway.Engine) {
	c := startCluster(t, engine)
	c.edge.down.Store(true)
	s := c.edge.websocket(t, "shop.apps.test")
	svctest.Eventually(t, "the websocket is no request", func() bool {
		return inflight(c.Gateway) == 0 && c.machines[shop].Used().Websockets == 1
	})
	if before := time.Now(); c.LastUse(shop).Before(before) {
		t.Error("an open websocket is no use")
	}
	before := c.LastRequest(shop)
	c.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, Asleep: true, Planned: true})
	if err := c.DrainVersion(t.Context(), shop); err != nil {
		t.Error(err)
	}
	if !c.LastRequest(shop).After(before) {
		t.Error("the version could fall asleep")
	}
	c.edge.CloseWebsockets(shop, "", 0)
	if code := s.closed(); code != 1012 {
		t.Errorf("close code %d", code)
	}
}

package routefeed_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/routefeed"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// routes is a gateway that remembers its routes and the calls.
type routes struct {
	mu    sync.Mutex
	has   map[string]string
	calls []string
}

func newRoutes() *routes { return &routes{has: map[string]string{}} }

func (r *routes) call(name string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, strings.TrimSpace(name+" "+fmt.Sprintln(args...)))
	key := fmt.Sprint(args[0])
	switch name {
	case "version", "production":
		r.has[key] = fmt.Sprint(args[1])
	case "remove":
		delete(r.has, key)
	}
	if r.has[key] == "" {
		delete(r.has, key)
	}
}

func (r *routes) SetVersion(ref svc.Ref, u svc.Upstream) {
	r.call("version", ref, fmt.Sprint(u.Status, " ", u.PortKey, " ", u.Starting, u.Asleep, u.Planned, u.Through, u.Direct, u.DirectPin))
}
func (r *routes) RemoveVersion(ref svc.Ref)        { r.call("remove", ref) }
func (r *routes) SetProduction(project, id string) { r.call("production", project, id) }
func (r *routes) Hold(project string)              { r.call("hold", project) }
func (r *routes) Release(project string)           { r.call("release", project) }
func (r *routes) SetPreview(project, name, id string) {
	r.call("production", project+"~"+name, id)
}
func (r *routes) HoldPreview(project, name string)    { r.call("hold", project+"~"+name) }
func (r *routes) ReleasePreview(project, name string) { r.call("release", project+"~"+name) }
func (r *routes) SetDomain(d svc.DomainRoute) {
	r.call("production", "domain "+d.Host, d.Project+"/"+d.Target+d.Redirect)
}
func (r *routes) RemoveDomain(host string) { r.call("remove", "domain "+host) }
func (r *routes) CloseWebsockets(ref svc.Ref, role svc.Role, after time.Duration) {
	r.call("close", ref, role, after)
}

func (r *routes) list() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for k, v := range r.has {
		all = append(all, k+"="+v)
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// since returns the calls after the first n.
func (r *routes) since(n int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls[n:])
}

// world is a server with its log.
type world struct {
	t      testing.TB
	own    *routes
	log    *routefeed.Log
	server *routefeed.Server
	http   *httptest.Server
	down   atomic.Bool
	// fetched says that the bundle "/later" can be read.
	fetched atomic.Bool
	seen    chan string
}

var hosts = svc.IngressConfig{BaseDomain: "apps.test"}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, own: newRoutes(), seen: make(chan string, 100)}
	w.log = routefeed.NewLog(w.own, hosts, func(dir string) (bool, error) {
		if dir == "/later" && !w.fetched.Load() {
			return false, errors.New("not fetched")
		}
		return dir == "/with-assets", nil
	})
	w.server = routefeed.NewServer(routefeed.ServerConfig{
		Log: w.log, Logger: slog.New(slog.DiscardHandler),
		Observe: func(r routefeed.Request) { w.seen <- fmt.Sprint("finished ", r.Ref, r.Status) },
		Rouse:   func(ref svc.Ref) { w.seen <- fmt.Sprint("rouse ", ref) },
		Asked:   func(ref svc.Ref) { w.seen <- fmt.Sprint("asked ", ref) },
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+routefeed.FeedPath, w.server.Routes)
	mux.HandleFunc("POST "+routefeed.ReportPath, w.server.Report)
	w.http = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if w.down.Load() {
			http.Error(out, "down", http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(out, r)
	}))
	t.Cleanup(func() { w.server.Close(); w.http.CloseClientConnections(); w.http.Close() })
	return w
}

// edge is a gateway that follows the log.
type edge struct {
	*routefeed.Client
	table  *routefeed.Table
	routes *routes
}

func (w *world) edge(name string) *edge {
	e := &edge{routes: newRoutes()}
	e.table = routefeed.NewTable(func(svc.IngressConfig) (routefeed.Gateway, error) { return e.routes, nil })
	transport := &http.Transport{}
	e.Client = routefeed.NewClient(routefeed.ClientConfig{
		URL: w.http.URL, Token: "token", HTTP: &http.Client{Transport: transport}, Instance: name, Name: name, Build: "1", Table: e.table,
		Logger: slog.New(slog.DiscardHandler), Numbers: func() routefeed.Report { return routefeed.Report{Listens: "here", Inflight: 2, Websockets: 1} },
	})
	ctx, cancel := context.WithCancelCause(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	stopped := errors.New("stopped")
	w.t.Cleanup(func() {
		cancel(stopped)
		if err := <-done; !errors.Is(err, context.Canceled) && !errors.Is(err, stopped) {
			w.t.Errorf("Run: %v", err)
		}
		transport.CloseIdleConnections()
	})
	return e
}

// same waits until the gateways have the routes of the log.
func (w *world) same(edges ...*edge) {
	w.t.Helper()
	for _, e := range edges {
		select {
		case <-e.table.Newer(w.log.Generation()):
		case <-time.After(svctest.Patience):
			w.t.Fatal("the routes do not arrive")
		}
	}
	for _, e := range edges {
		if got, want := e.routes.list(), w.own.list(); got != want {
			w.t.Errorf("the gateway has\n%s\nwant\n%s", got, want)
		}
	}
}

func ready(key string) svc.Upstream {
	return svc.Upstream{Status: svc.StatusReady, Endpoint: svc.Endpoint{Socket: "/secret/path", PID: 7, PortKey: key}}
}

var v1, v2 = svc.Ref{Project: "shop", Version: "v1"}, svc.Ref{Project: "shop", Version: "v2"}

// TestFeed: two gateways have the routes of the log, one from the start and one that comes later, after
// each change, and after one was cut off and routes were removed meanwhile.
func TestFeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.log.SetVersion(v1, ready("one"))
	w.log.SetProduction("shop", "v1")
	w.log.SetPreview("shop", "pr", "v1")
	a := w.edge("a")
	w.same(a)
	w.log.SetVersion(v2, svc.Upstream{Status: svc.StatusReady, Asleep: true, Planned: true})
	w.log.SetVersion(v2, ready("two"))
	w.log.Hold("shop")
	w.log.SetProduction("shop", "v2")
	w.log.Release("shop")
	b := w.edge("b")
	w.same(a, b)

	w.down.Store(true)
	w.http.CloseClientConnections()
	svctest.Eventually(t, "the gateways to see that the server is away", func() bool { return !a.State().Connected && !b.State().Connected })
	if got, want := a.routes.list(), w.own.list(); got != want {
		t.Errorf("without a server the gateway has\n%s\nwant\n%s", got, want)
	}
	before := len(a.routes.since(0))
	w.log.SetProduction("shop", "v1")
	w.log.SetPreview("shop", "pr", "")
	w.log.RemoveVersion(v2)
	w.down.Store(false)
	w.same(a, b)
	if calls := a.routes.since(before); !slices.Contains(calls, "close "+v2.String()+" production 30s") {
		t.Errorf("the websockets of the production before stay open: %q", calls)
	}
}

// TestFeedOrder: a host name is held before it gets another version and released after it, also
// when all of it comes in one answer; a hold that is in place is part of all routes.
func TestFeedOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.log.SetVersion(v1, ready("one"))
	w.log.SetProduction("shop", "v1")
	w.log.Hold("shop")
	w.log.HoldPreview("shop", "pr")
	a := w.edge("a")
	w.same(a)
	calls := strings.Join(a.routes.since(0), "; ")
	if !strings.Contains(calls, "hold shop; production shop v1") || strings.Contains(calls, "release shop;") || !strings.Contains(calls, "hold shop~pr") {
		t.Error(calls)
	}
	before := len(a.routes.since(0))
	w.log.SetProduction("shop", "v2")
	w.log.Release("shop")
	w.log.Release("shop") // changes nothing
	w.same(a)
	if calls := strings.Join(a.routes.since(before), "; "); calls != "hold shop; production shop v2; production shop v2; release shop" {
		t.Error(calls)
	}
}

// TestFeedState: a gateway learns no paths of the server, only the key of a runtime that serves; a
// version with static files is reached through the server's own gateway by a key of its own.
func TestFeedState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.edge("a")
	w.log.SetVersion(v1, ready("one"))
	assets := ready("two")
	assets.BundleDir = "/with-assets"
	w.log.SetVersion(v2, assets)
	select {
	case <-a.table.Newer(w.log.Generation()):
	case <-time.After(svctest.Patience):
		t.Fatal("the routes do not arrive")
	}
	list := a.routes.list()
	if !strings.Contains(list, "v1=ready one false false false false") || !strings.Contains(list, "false false false true") || strings.Contains(list, "two") {
		t.Error(list)
	}
	var key string
	for route := range strings.SplitSeq(list, "; ") {
		if rest, ok := strings.CutPrefix(route, v2.String()+"=ready "); ok {
			key, _, _ = strings.Cut(rest, " ")
		}
	}
	if !w.log.Passes(v2, key) || w.log.Passes(v2, "another") || w.log.Passes(v1, "one") {
		t.Errorf("the key %q", key)
	}
}

// TestFeedGap: a gateway that is further behind than the log reaches gets all routes.
func TestFeedGap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.log.SetVersion(v1, ready("one"))
	a := w.edge("a")
	w.same(a)
	w.down.Store(true)
	w.http.CloseClientConnections()
	for i := range 10_000 {
		w.log.SetProduction("shop", []string{"v1", "v2"}[i%2])
	}
	w.log.SetProduction("other", "v9")
	w.down.Store(false)
	w.same(a)
}

// TestReports: what gateways report reaches the server once; only versions that it knows do.
func TestReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.log.SetVersion(v1, ready("one"))
	a := w.edge("a")
	w.same(a)
	a.Finished(routefeed.Request{Ref: v1, Status: 200})
	a.Finished(routefeed.Request{Ref: svc.Ref{Project: "../..", Version: "x"}, Status: 201})
	a.Finished(routefeed.Request{Status: 404})
	a.Rouse(v2)
	a.Rouse(v1)
	a.Asked(v1)
	var got []string
	for range 4 {
		select {
		case s := <-w.seen:
			got = append(got, s)
		case <-time.After(svctest.Patience):
			t.Fatalf("only %q arrived", got)
		}
	}
	slices.Sort(got)
	if want := []string{"asked " + v1.String(), fmt.Sprint("finished ", svc.Ref{}, 404), fmt.Sprint("finished ", v1, 200), "rouse " + v1.String()}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	svctest.Eventually(t, "the numbers to arrive", func() bool {
		list := w.server.Gateways()
		return len(list) == 1 && list[0].Requests == 3 && list[0].Generation == w.log.Generation() && list[0].Inflight == 2
	})
	if g := w.server.Gateways()[0]; g.Name != "a" || !g.Connected || g.Listens != "here" || g.Behind != 0 || g.Version != "1" {
		t.Errorf("%+v", g)
	}
	w.down.Store(true)
	w.http.CloseClientConnections()
	svctest.Eventually(t, "the gateway to be away", func() bool { g := w.server.Gateways()[0]; return !g.Connected && g.Inflight == 0 })
}

// TestHostsChange: a gateway does not serve with host names of another form.
func TestHostsChange(t *testing.T) {
	t.Parallel()
	table := routefeed.NewTable(func(svc.IngressConfig) (routefeed.Gateway, error) { return newRoutes(), nil })
	if err := table.Apply(&routefeed.Line{Kind: "all", Hosts: &hosts}); err != nil {
		t.Fatal(err)
	}
	moved := hosts
	moved.Port++
	if err := table.Apply(&routefeed.Line{Kind: "all", Hosts: &moved}); err != nil {
		t.Errorf("another port in URLs: %v", err)
	}
	other := svc.IngressConfig{BaseDomain: "other.test"}
	if err := table.Apply(&routefeed.Line{Kind: "all", Hosts: &other}); !errors.Is(err, routefeed.ErrHosts) {
		t.Errorf("got %v", err)
	}
}

// TestMalformedStream: lines that do not follow each other, and unknown ones, are errors.
func TestMalformedStream(t *testing.T) {
	t.Parallel()
	for _, lines := range [][]routefeed.Line{
		{{Kind: "version", State: &routefeed.State{}}},
		{{Kind: "ready"}},
		{{Kind: "all"}},
		{{Kind: "all", Hosts: &hosts}, {Kind: "what"}},
		{{Kind: "all", Hosts: &hosts}, {Kind: "version"}},
		{{Kind: "all", Hosts: &hosts}, {Kind: "ready", Generation: 1}, {Kind: "ready", Generation: 2}},
	} {
		table := routefeed.NewTable(func(svc.IngressConfig) (routefeed.Gateway, error) { return newRoutes(), nil })
		var err error
		for i := range lines {
			err = table.Apply(&lines[i])
		}
		if err == nil {
			t.Errorf("%+v: no error", lines)
		}
	}
}

// TestDirect: gateways learn where the machine of a version is, and its certificate; not while the
// version starts, or has static files.
func TestDirect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.edge("a")
	at := svc.Endpoint{Socket: "/s", PortKey: "key", Direct: "10.0.0.1:8794", DirectPin: "pin"}
	w.log.SetVersion(svc.Ref{Project: "shop", Version: "v1"}, svc.Upstream{Status: svc.StatusReady, Endpoint: at})
	w.log.SetVersion(svc.Ref{Project: "shop", Version: "v2"}, svc.Upstream{Status: svc.StatusReady, Endpoint: at, Starting: true})
	w.log.SetVersion(svc.Ref{Project: "shop", Version: "v3"}, svc.Upstream{Status: svc.StatusReady, Endpoint: at, BundleDir: "/with-assets"})
	svctest.Eventually(t, "the routes", func() bool { return e.table.Generation() == w.log.Generation() })
	got := e.routes.list()
	if !strings.Contains(got, "shop/v1=ready key false false false false10.0.0.1:8794pin;") || strings.Count(got, "8794") != 1 {
		t.Error(got)
	}
}

// TestDirectLater: the bundle of a version that another server has started is fetched after its first
// route. Then gateways learn where its machine is.
func TestDirectLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.edge("a")
	ref := svc.Ref{Project: "shop", Version: "v1"}
	at := svc.Endpoint{Socket: "/s", PortKey: "key", Direct: "10.0.0.1:8794", DirectPin: "pin"}
	w.log.SetVersion(ref, svc.Upstream{Status: svc.StatusReady, Planned: true, BundleDir: "/later"})
	svctest.Eventually(t, "the first route", func() bool { return e.table.Generation() == w.log.Generation() })
	if got := e.routes.list(); strings.Contains(got, "8794") {
		t.Error(got)
	}
	w.fetched.Store(true)
	w.log.SetVersion(ref, svc.Upstream{Status: svc.StatusReady, Endpoint: at, BundleDir: "/later"})
	svctest.Eventually(t, "the second", func() bool { return e.table.Generation() == w.log.Generation() })
	if got := e.routes.list(); !strings.Contains(got, "shop/v1=ready key false false false false10.0.0.1:8794pin") {
		t.Error(got)
	}
}

// TestBegin: no routes are sent before the server says so.
func TestBegin(t *testing.T) {
	t.Parallel()
	begin := make(chan struct{})
	log := slog.New(slog.DiscardHandler)
	s := routefeed.NewServer(routefeed.ServerConfig{Log: routefeed.NewLog(newRoutes(), hosts, nil), Logger: log, Begin: begin})
	h := httptest.NewServer(http.HandlerFunc(s.Routes))
	defer h.Close()
	defer s.Close()
	answered := make(chan string, 1)
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+"?instance=a", http.NoBody)
		if err != nil {
			answered <- err.Error()
			return
		}
		resp, err := h.Client().Do(r)
		if err != nil {
			answered <- err.Error()
			return
		}
		resp.Body.Close()
		answered <- resp.Status
	}()
	svctest.Eventually(t, "the gateway", func() bool { return len(s.Gateways()) == 1 })
	select {
	case got := <-answered:
		t.Fatalf("%s before its time", got)
	default:
	}
	close(begin)
	if got := svctest.Wait(t, "the answer", answered); got != "200 OK" {
		t.Error(got)
	}
}

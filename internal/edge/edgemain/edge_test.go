package edgemain_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/edgemain"
	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/edge/routefeed"
	"github.com/svcctl/svcctl/internal/fleet/relay"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

var shop = svc.Ref{Project: "shop", Version: "v1"}

// server is what a daemon serves for gateways: routes and the way to its runtimes.
type server struct {
	t      *testing.T
	own    *gateway.Gateway
	log    *routefeed.Log
	feed   *routefeed.Server
	relay  *relay.Server
	http   *httptest.Server
	noFeed atomic.Bool // routes and reports are cut off, the way to runtimes is not
}

func newServer(t *testing.T) *server {
	hosts := svc.IngressConfig{BaseDomain: "apps.test"}
	ingress, err := svc.NewIngress(hosts)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, own: gateway.New(gateway.Config{Ingress: ingress})}
	s.log = routefeed.NewLog(s.own, hosts, func(string) (bool, error) { return false, nil })
	s.feed = routefeed.NewServer(routefeed.ServerConfig{
		Log: s.log, Logger: slog.New(slog.DiscardHandler),
		Rouse: func(ref svc.Ref) { s.log.SetVersion(ref, upstream(worker(t, "awake"), "woken")) },
	})
	moved := func(err error) error {
		if m, ok := errors.AsType[*relay.MovedError](err); ok {
			m.Generation = s.log.Generation()
		}
		return err
	}
	s.relay = relay.NewServer(relay.Config{
		Admit: func(a relay.Ask) (relay.Admission, error) { adm, err := s.own.Admit(a); return adm, moved(err) },
		Known: func(a relay.Ask) error {
			if s.own.Knows(a) {
				return nil
			}
			return moved(&relay.MovedError{})
		},
		Logger: slog.New(slog.DiscardHandler),
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+routefeed.FeedPath, s.feed.Routes)
	mux.HandleFunc("POST "+routefeed.ReportPath, s.feed.Report)
	mux.Handle("GET "+relay.Path, s.relay)
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token" || s.noFeed.Load() && r.URL.Path != relay.Path {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	s.http.StartTLS()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), svctest.Patience)
		defer cancel()
		s.feed.Close()
		if err := errors.Join(s.relay.Shutdown(ctx), s.own.Shutdown(ctx)); err != nil {
			t.Error(err)
		}
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

func upstream(socket, key string) svc.Upstream {
	return svc.Upstream{Status: svc.StatusReady, Endpoint: svc.Endpoint{Socket: socket, PortKey: key}}
}

// worker listens like a runtime and answers with body.
func worker(t *testing.T, body string) (socket string) {
	t.Helper()
	socket = filepath.Join(svctest.ShortDir(t), "s")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { s.Close(); <-done })
	return socket
}

// start starts a gateway of the server, which it reaches by https.
func (s *server) start(ready bool) *edgemain.Edge {
	s.t.Helper()
	u, err := url.Parse(s.http.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	cas := x509.NewCertPool()
	cas.AddCert(s.http.Certificate())
	e, err := edgemain.Start(s.t.Context(), edgemain.Config{
		Control: u, Token: "token", CAs: cas, Listen: "127.0.0.1:0", Status: "127.0.0.1:0", Name: "edge", Logger: slog.New(slog.DiscardHandler),
		Gateway: gateway.Config{HoldTimeout: svctest.Patience},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), svctest.Patience)
		defer cancel()
		if err := e.Stop(ctx); err != nil {
			s.t.Error(err)
		}
	})
	if ready {
		svctest.Eventually(s.t, "the gateway to be ready", func() bool { return e.Ready().Status == "ok" })
	}
	return e
}

// get asks the gateway once, on a connection of its own.
func get(t *testing.T, e *edgemain.Edge, host string) string {
	t.Helper()
	addr, _ := e.Addr()
	nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(2 * svctest.Patience))
	fmt.Fprintf(nc, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host)
	resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(resp.StatusCode, " ", string(body))
}

// TestEdge: a gateway serves what the server routes, starts a version that sleeps, and tells the
// server of itself.
func TestEdge(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.log.SetVersion(shop, upstream(worker(t, "one"), "key"))
	s.log.SetProduction("shop", "v1")
	s.log.SetVersion(svc.Ref{Project: "shop", Version: "v2"}, svc.Upstream{Status: svc.StatusReady, Asleep: true, Planned: true})
	e := s.start(true)
	for host, want := range map[string]string{"shop.apps.test": "200 one", "v1.shop.apps.test": "200 one", "v2.shop.apps.test": "200 awake"} {
		if got := get(t, e, host); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
	svctest.Eventually(t, "the server to know the gateway", func() bool {
		list := s.feed.Gateways()
		return len(list) == 1 && list[0].Name == "edge" && list[0].Requests == 3 && list[0].Behind == 0
	})
}

// TestCutOff: a gateway that is cut off from the routes serves its last ones, and says so. Production
// that has changed meanwhile waits for the routes, and only production.
func TestCutOff(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	v2 := svc.Ref{Project: "shop", Version: "v2"}
	s.log.SetVersion(shop, upstream(worker(t, "one"), "key one"))
	s.log.SetVersion(v2, upstream(worker(t, "two"), "key two"))
	s.log.SetProduction("shop", "v1")
	e := s.start(true)
	s.noFeed.Store(true)
	s.http.CloseClientConnections()
	svctest.Eventually(t, "the routes to be stale", func() bool { return e.Ready().Status == "stale" })
	_, status := e.Addr()
	if r := readiness(t, status); r.code != http.StatusOK || r.Status != "stale" || r.Error == "" || r.Since.IsZero() {
		t.Errorf("%+v", r)
	}
	if got := get(t, e, "shop.apps.test"); got != "200 one" {
		t.Errorf("with the last routes: %q", got)
	}
	s.log.Hold("shop")
	s.log.SetProduction("shop", "v2")
	s.log.Release("shop")
	answers := make(chan string, 1)
	go func() { answers <- get(t, e, "shop.apps.test") }()
	if got := get(t, e, "v1.shop.apps.test"); got != "200 one" {
		t.Errorf("the version's own host: %q", got)
	}
	select {
	case got := <-answers:
		t.Errorf("production answered %q by old routes", got)
	default:
	}
	s.noFeed.Store(false)
	if got := <-answers; got != "200 two" {
		t.Errorf("with the new routes: %q", got)
	}
}

type ready struct {
	edgemain.Ready
	code int
}

func readiness(t *testing.T, status string) (r ready) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+status+"/ready", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	r.code = resp.StatusCode
	if err := json.NewDecoder(resp.Body).Decode(&r.Ready); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestNoServer: a gateway that has never had routes is not ready, and stops.
func TestNoServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.noFeed.Store(true)
	e := s.start(false)
	_, status := e.Addr()
	svctest.Eventually(t, "a try", func() bool { return e.Ready().Error != "" })
	if r := readiness(t, status); r.code != http.StatusServiceUnavailable || r.Status != "starting" {
		t.Errorf("%+v", r)
	}
}

// TestUnknownAuthority: the certificate of the server is checked.
func TestUnknownAuthority(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	u, err := url.Parse(s.http.URL)
	if err != nil {
		t.Fatal(err)
	}
	e, err := edgemain.Start(t.Context(), edgemain.Config{Control: u, Token: "token", CAs: x509.NewCertPool(), Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Stop(t.Context()) }()
	_, err = e.Dial(t.Context(), relay.Destination{Ref: shop, Key: "key"})
	if unknown := new(tls.CertificateVerificationError); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
}

package acme_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/edge/acme"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/acmetest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) {
	svctest.Main(m, map[string]svctest.Role{acmetest.RoleName: acmetest.Role},
		goleak.IgnoreAnyFunction("github.com/caddyserver/certmagic.(*RingBufferRateLimiter).loop")) // certmagic has one for each account
}

// world is an object store and an authority.
type world struct {
	t         *testing.T
	bucket    objstore.Bucket
	authority *acmetest.Authority
}

// server is a server with hosts below test, with both ports.
type server struct {
	*acme.Manager

	addr   string
	asked  atomic.Int64
	orders svctest.Buffer
}

// start starts a server. The challenge HTTP-01 is possible if plain.
func (w *world) start(plain bool) *server {
	w.t.Helper()
	var open net.Listener
	s := w.startWith(func(c *acme.Config) {
		if plain {
			open = w.listen()
			c.HTTP = open.Addr()
		}
		w.authority.Ports(c.HTTP, c.HTTPS)
	})
	if plain {
		w.serve(open, s.Handler(http.NotFoundHandler()))
	}
	return s
}

// startWith starts a server whose config may be changed.
func (w *world) startWith(change func(c *acme.Config)) *server {
	w.t.Helper()
	s := &server{}
	secure := w.listen()
	c := acme.Config{
		Email: "ops@example.com", Directory: w.authority.Directory(), Roots: w.authority.CA, Bucket: w.bucket, Key: "recovery-key-of-a-server-in-a-test",
		Allowed: func(host string) bool {
			s.asked.Add(1)
			return strings.HasSuffix(host, ".test") && host != "stranger.test" && host != "apps.test"
		},
		HTTPS: secure.Addr(), Observe: func(result string) { _, _ = s.orders.Write([]byte(result + " ")) }, Logger: slog.New(slog.DiscardHandler),
	}
	change(&c)
	m, err := acme.New(w.t.Context(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	s.Manager, s.addr = m, secure.Addr().String()
	var config tls.Config
	config.GetCertificate, config.NextProtos = m.GetCertificate, []string{"http/1.1", acme.Protocol}
	w.serve(tls.NewListener(secure, &config), http.NotFoundHandler())
	w.t.Cleanup(func() {
		if err := m.Stop(context.WithoutCancel(w.t.Context())); err != nil {
			w.t.Error(err)
		}
	})
	return s
}

func (w *world) listen() net.Listener {
	w.t.Helper()
	var lc net.ListenConfig
	ln, err := lc.Listen(w.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	return ln
}

func (w *world) serve(ln net.Listener, h http.Handler) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	go func() { _ = server.Serve(ln) }()
	w.t.Cleanup(func() { _ = server.Close() })
}

// shake shakes hands for a host and returns the server's certificate. It believes all without
// roots.
func (s *server) shake(t *testing.T, host string, roots *x509.CertPool) (*x509.Certificate, error) {
	t.Helper()
	d := tls.Dialer{Config: &tls.Config{ServerName: host, RootCAs: roots, InsecureSkipVerify: roots == nil}}
	c, err := d.DialContext(t.Context(), "tcp", s.addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.(*tls.Conn).ConnectionState().PeerCertificates[0], nil //nolint:forcetypeassert // of a tls.Dialer
}

// TestOnDemand: the first handshakes of a host share one order, and a second server with the
// same object store needs none. Strangers cost a look into a table.
func TestOnDemand(t *testing.T) {
	t.Parallel()
	for name, plain := range map[string]bool{"alpn": false, "both": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := name + ".apps.test" // certmagic has one table of challenges in a process
			w := &world{t, &memstore.Bucket{}, acmetest.Start(t, 24*time.Hour)}
			one := w.start(plain)
			roots := w.authority.Roots()
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() {
					if leaf, err := one.shake(t, strings.ToUpper(host), roots); err != nil || leaf.VerifyHostname(host) != nil {
						t.Errorf("%v, %+v", err, one.Orders())
					}
				})
			}
			all.Wait()
			if n := w.authority.Orders(); n != 1 || one.orders.String() != "ok " {
				t.Errorf("%d orders, %s", n, &one.orders)
			}
			for _, host := range []string{"stranger.test", "apps.test", ""} {
				if _, err := one.shake(t, host, roots); err == nil {
					t.Errorf("%q has a certificate", host)
				}
			}
			two := w.start(plain)
			if _, err := two.shake(t, host, roots); err != nil || w.authority.Orders() != 1 || two.orders.String() != "" {
				t.Errorf("%d orders, %s: %v", w.authority.Orders(), &two.orders, err)
			}
			if list := two.List(); len(list) != 1 || list[0].Names[0] != host || !list[0].Ordered {
				t.Errorf("%+v", list)
			}
		})
	}
}

// TestRefused: a refused order is not repeated until its pause has ended, and shows in the
// list. An operator can end the pause.
func TestRefused(t *testing.T) {
	t.Parallel()
	w := &world{t, &memstore.Bucket{}, acmetest.Start(t, 24*time.Hour)}
	s := w.start(false)
	w.authority.Refuse(true)
	for range 3 {
		if _, err := s.shake(t, "refused.apps.test", w.authority.Roots()); err == nil {
			t.Error("a certificate without an order")
		}
	}
	orders := s.Orders()
	if n := w.authority.Orders(); n != 1 || len(orders) != 1 {
		t.Fatalf("%d orders, %+v", n, orders)
	}
	if o := orders[0]; o.Host != "refused.apps.test" || o.State != svc.OrderFailed || o.Failures != 1 || !strings.Contains(o.Error, "rateLimited") || time.Until(o.RetryAt) < time.Minute {
		t.Errorf("%+v", o)
	}
	w.authority.Refuse(false)
	s.Retry()
	if _, err := s.shake(t, "refused.apps.test", w.authority.Roots()); err != nil {
		t.Error(err)
	}
	if left := s.Orders(); len(left) != 0 || s.orders.String() != "failed ok " {
		t.Errorf("%+v, %s", left, &s.orders)
	}
}

// TestRenewal: a certificate with less than a third of its time left is renewed behind the
// handshake that finds it, and one that has ended in front of it.
func TestRenewal(t *testing.T) {
	t.Parallel()
	w := &world{t, &memstore.Bucket{}, acmetest.Start(t, 6*time.Second)}
	s := w.start(false)
	serials := map[string]bool{}
	svctest.Eventually(t, "another certificate", func() bool {
		if leaf, err := s.shake(t, "renewed.apps.test", nil); err == nil { // a slow machine may see it expired
			serials[leaf.SerialNumber.String()] = true
		}
		return len(serials) > 1
	})
}

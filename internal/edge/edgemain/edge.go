package edgemain

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/edge/routefeed"
	"github.com/svcctl/svcctl/internal/fleet/relay"
	"github.com/svcctl/svcctl/internal/lib/buildinfo"
	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/svc"
)

// Config configures an Edge. Control, Token, Listen and Logger are required.
type Config struct {
	Control *url.URL // of the server: http or https, host and port
	Token   svc.Secret
	CAs     *x509.CertPool // of the server's certificate; nil for those of the system
	Listen  string         // host:port for visitors
	Status  string         // host:port for /metrics and /ready; "" for none
	Name    string         // for people
	Logger  *slog.Logger

	// Gateway is how visitors are served; the fields that join it with a server are set here.
	Gateway gateway.Config
}

// Edge is a running gateway.
type Edge struct {
	cfg     Config
	metrics *obs.Metrics
	client  *routefeed.Client
	table   *routefeed.Table
	dialer  relay.Dialer
	secure  *tls.Config // nil for plain HTTP

	visitors net.Listener
	status   *http.Server // nil for none
	statusAt string

	failed  chan error
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	gateway *gateway.Gateway // nil before the first routes
}

// connectLimit bounds a connection to the server.
const connectLimit = 2 * time.Second

// Start opens the ports and begins to fetch routes. ctx bounds only the start.
func Start(ctx context.Context, cfg Config) (*Edge, error) {
	e := &Edge{cfg: cfg, metrics: obs.NewMetrics(buildinfo.Read()), failed: make(chan error, 1)}
	if cfg.Control.Scheme == "https" {
		e.secure = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: cfg.Control.Hostname(), RootCAs: cfg.CAs}
	}
	e.table = routefeed.NewTable(e.create)
	e.dialer = relay.Dialer{Host: cfg.Control.Host, Token: cfg.Token, Connect: e.connect}
	e.client = routefeed.NewClient(routefeed.ClientConfig{
		URL: cfg.Control.Scheme + "://" + cfg.Control.Host, Token: cfg.Token, HTTP: e.httpClient(), Instance: rand.Text(), Name: cfg.Name,
		Build: buildinfo.Read().Version, Table: e.table, Logger: cfg.Logger, Numbers: e.numbers,
	})
	e.watch()
	if err := e.listen(ctx); err != nil {
		return nil, err
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e.cancel = cancel
	e.running.Go(func() { e.follow(own) })
	e.running.Go(func() { e.serve(own) })
	return e, nil
}

func (e *Edge) listen(ctx context.Context) (err error) {
	var lc net.ListenConfig
	if e.visitors, err = lc.Listen(ctx, "tcp", e.cfg.Listen); err != nil {
		return unusable("--listen", e.cfg.Listen, err)
	}
	if e.cfg.Status == "" {
		return nil
	}
	l, err := lc.Listen(ctx, "tcp", e.cfg.Status)
	if err != nil {
		return errors.Join(unusable("--status", e.cfg.Status, err), e.visitors.Close())
	}
	e.statusAt = l.Addr().String()
	e.status = &http.Server{Handler: e.statusHandler(), ReadHeaderTimeout: connectLimit, ErrorLog: slog.NewLogLogger(e.cfg.Logger.Handler(), slog.LevelDebug)}
	e.running.Go(func() {
		if err := e.status.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			e.fail(fmt.Errorf("status: %w", err))
		}
	})
	return nil
}

func unusable(flag, addr string, err error) error {
	return svc.Errorf(svc.Unprocessable, svc.CodeAddressUnusable, "cannot listen at %s", addr).WithHint("set %s to a free port of this machine", flag).Because(err)
}

// Addr returns where visitors are served, and where the status is; "" for none.
func (e *Edge) Addr() (visitors, status string) { return e.visitors.Addr().String(), e.statusAt }

// Failed returns a channel with the error after which the gateway serves no more.
func (e *Edge) Failed() <-chan error { return e.failed }

func (e *Edge) fail(err error) {
	select {
	case e.failed <- err:
	default: // a failure is reported already
	}
}

// follow keeps the routes up to date.
func (e *Edge) follow(ctx context.Context) {
	if err := e.client.Run(ctx); ctx.Err() == nil {
		e.fail(err)
	}
}

// serve serves visitors when the first routes have arrived.
func (e *Edge) serve(ctx context.Context) {
	select {
	case <-e.table.Newer(1):
	case <-ctx.Done():
		return
	}
	visitors, _ := e.Addr()
	e.cfg.Logger.InfoContext(ctx, "serving visitors", "address", visitors)
	if err := e.current().Serve(context.WithoutCancel(ctx), e.visitors); err != nil {
		e.fail(fmt.Errorf("gateway: %w", err))
	}
}

// create makes the gateway when the server has said which form host names have.
func (e *Edge) create(hosts svc.IngressConfig) (routefeed.Gateway, error) { //nolint:ireturn // what routefeed.NewTable wants
	ingress, err := svc.NewIngress(hosts)
	if err != nil {
		return nil, err
	}
	c := e.cfg.Gateway
	c.Ingress, c.Logger, c.Relay, c.Observer = ingress, e.cfg.Logger, e, observer{e.metrics, e.client}
	c.Asked, c.Rouse = e.client.Asked, e.client.Rouse
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gateway = gateway.New(c)
	return e.gateway, nil
}

// current returns the gateway, nil before the first routes.
func (e *Edge) current() *gateway.Gateway {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.gateway
}

// Dial implements gateway.Relay.
func (e *Edge) Dial(ctx context.Context, d relay.Destination) (*relay.Conn, error) {
	if d.Address != "" {
		return relay.DialMachine(ctx, d)
	}
	return e.dialer.Dial(ctx, d.Ref, d.Key)
}

// Newer implements gateway.Relay.
func (e *Edge) Newer(generation uint64) <-chan struct{} { return e.table.Newer(generation) }

// connect opens a connection to the server.
func (e *Edge) connect(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	return relay.DialServer(ctx, e.address(), e.secure)
}

// address is the server's host and port.
func (e *Edge) address() string {
	u := e.cfg.Control
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

func (e *Edge) httpClient() *http.Client {
	plain := func(ctx context.Context, _, _ string) (net.Conn, error) { return e.connect(ctx) }
	return &http.Client{
		Transport:     &http.Transport{DialContext: plain, DialTLSContext: plain, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: routefeed.SilentAfter},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Stop stops accepting and waits for the requests in flight until ctx ends, then for everything
// else.
func (e *Edge) Stop(ctx context.Context) error {
	var err error
	if g := e.current(); g != nil {
		err = g.Shutdown(ctx)
		e.client.Flush(ctx)
	}
	_ = e.visitors.Close() // a gateway that serves has closed it
	e.cancel()
	if e.status != nil {
		err = errors.Join(err, e.status.Close())
	}
	e.running.Wait()
	return err
}

package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/edge/https"
	"github.com/svcctl/svcctl/internal/edge/routefeed"
	"github.com/svcctl/svcctl/internal/fleet/relay"
	"github.com/svcctl/svcctl/internal/lib/buildinfo"
	"github.com/svcctl/svcctl/internal/lib/peer"
	"github.com/svcctl/svcctl/internal/server/api/tokens"
	"github.com/svcctl/svcctl/internal/svc"
)

// gateways is what serves gateways on other machines: routes, and the way to versions.
type gateways struct {
	log   *routefeed.Log
	feed  *routefeed.Server
	relay *relay.Server
	pass  string // path of a socket of the daemon's own gateway
	begin chan struct{}
}

// generation returns the generation of the routes; 0 without gateways on other machines.
func (g *gateways) generation() uint64 {
	if g == nil {
		return 0
	}
	return g.log.Generation()
}

// beginFeed sends routes to gateways on other machines when restored is closed. A server that takes
// back versions which serve does so first, as long as machines admit requests without it: gateways
// serve with the routes that they have.
func (d *Daemon) beginFeed(restored <-chan struct{}) {
	if d.gateways == nil {
		return
	}
	limit := time.NewTimer(min(time.Until(d.inherited()), routefeed.SilentAfter/2))
	defer limit.Stop()
	select {
	case <-restored:
	case <-limit.C:
	}
	close(d.gateways.begin)
}

// Keep-alive probes find out within about 11 seconds that the machine of a gateway is gone.
const gatewayIdle, gatewayProbe, gatewayProbes = 5 * time.Second, 2 * time.Second, 3

// listenGateways opens the port for gateways on other machines, if there is one.
func (d *Daemon) listenGateways(ctx context.Context) error {
	g := d.cfg.Gateways
	if g.Listen == "" {
		return nil
	}
	lc := net.ListenConfig{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: gatewayIdle, Interval: gatewayProbe, Count: gatewayProbes}}
	l, err := lc.Listen(ctx, "tcp", g.Listen)
	if err != nil {
		return svc.Errorf(svc.Unprocessable, svc.CodeAddressUnusable, "cannot listen at %s for gateways", g.Listen).
			WithHint("set SVC_GATEWAYS_LISTEN to a free port of this machine").Because(err)
	}
	d.listeners.gateways = l
	if g.Cert == "" {
		return nil
	}
	files, err := https.OpenFiles(d.logger, https.Pair{Cert: g.Cert, Key: g.Key})
	if err != nil {
		return svc.Errorf(svc.Unprocessable, svc.CodeCertificateUnusable, "SVC_GATEWAYS_CERT: %v", err).WithHint("correct SVC_GATEWAYS_CERT and SVC_GATEWAYS_KEY")
	}
	d.listeners.gateways = tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: files.GetCertificate})
	return nil
}

// routeTable returns what changes of routes go to: the gateway, or a log in front of it.
func (d *Daemon) routeTable(ctx context.Context) (routefeed.Gateway, error) { //nolint:ireturn // by the settings
	if d.listeners.gateways == nil {
		return d.gateway, nil
	}
	hosts, err := ingressConfig(d.cfg, d.listeners.gatewayURL(d.cfg))
	if err != nil {
		return nil, err
	}
	log := routefeed.NewLog(d.gateway, hosts, hasAssets)
	g := &gateways{log: log, pass: filepath.Join(d.dirs.run, "gateway.sock"), begin: make(chan struct{})}
	g.feed = routefeed.NewServer(routefeed.ServerConfig{
		Log: log, Logger: d.logger, Begin: g.begin, Observe: d.observeOf,
		Rouse: d.events.rouse.Tell, Asked: d.events.asked.Tell,
		Dropped: func(n uint64) {
			d.logger.WarnContext(context.WithoutCancel(ctx), "a gateway had too many requests to report; logs and figures lack some", "requests", n)
		},
	})
	g.relay = relay.NewServer(relay.Config{Admit: d.admit, Known: d.knows, Logger: d.logger})
	d.gateways = g
	return log, nil
}

// hasAssets reports whether a bundle has static files.
func hasAssets(dir string) (bool, error) {
	m, err := bundle.Load(dir)
	return m.Assets != nil, err
}

// observeOf counts and logs a request that another gateway has served.
func (d *Daemon) observeOf(r routefeed.Request) {
	observer{d.metrics, d.requestLog, d.traffic, d.tracer}.ObserveRequest(gateway.Observation{
		Ref: r.Ref, Role: r.Role, Status: r.Status, Error: r.Error, Threw: r.Threw, Start: r.Start, Duration: r.Duration, Bytes: r.Bytes,
		ID: []byte(r.ID), Trace: optional(r.Trace), Parent: optional(r.Parent), ClientID: optional(r.ClientID), Method: []byte(r.Method), Target: []byte(r.Target),
	})
}

func optional(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// admit claims the runtime for a request of another gateway.
func (d *Daemon) admit(a relay.Ask) (relay.Admission, error) { //nolint:ireturn // one of two
	if d.gateways.log.Passes(a.Ref, a.Key) {
		return passage{d.gateways.pass}, nil
	}
	adm, err := d.gateway.Admit(a)
	return adm, d.dated(err)
}

// knows returns an error unless a version has a runtime with the key.
func (d *Daemon) knows(a relay.Ask) error {
	if d.gateways.log.Passes(a.Ref, a.Key) || d.gateway.Knows(a) {
		return nil
	}
	return d.dated(&relay.MovedError{})
}

// dated gives a refusal the generation of the routes that it is by.
func (d *Daemon) dated(err error) error {
	if moved, ok := errors.AsType[*relay.MovedError](err); ok {
		moved.Generation = d.gateways.log.Generation()
	}
	return err
}

// passage lets a request pass the daemon's own gateway, which claims the runtime.
type passage struct{ socket string }

func (p passage) Dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "unix", p.socket)
}

func (p passage) Same(other relay.Admission) bool { return other == p }
func (passage) Opened()                           {}
func (passage) Release()                          {}

// startGateways serves gateways on other machines.
func (d *Daemon) startGateways(ctx context.Context) error {
	if d.gateways == nil {
		return nil
	}
	named, err := d.namedTokens()
	if err != nil {
		return err
	}
	own, err := new(net.ListenConfig).Listen(ctx, "unix", d.gateways.pass)
	if err != nil {
		return err
	}
	own = peer.Only(own, 0, func(pid int) { // passage dials it, and nothing else may
		d.logger.WarnContext(context.WithoutCancel(ctx), "refused a connection to the gateway's own socket: it is from another process", "pid", pid)
	})
	go func() {
		if err := d.gateway.Serve(context.WithoutCancel(ctx), own); err != nil {
			d.fail("gateway", err)
		}
	}()
	d.metrics.WatchGateways(d.gateways.feed.Gateways)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+routefeed.FeedPath, d.gateways.feed.Routes)
	mux.HandleFunc("POST "+routefeed.ReportPath, d.gateways.feed.Report)
	mux.Handle("GET "+relay.Path, d.gateways.relay)
	server := &http.Server{
		Handler: tokens.OnlyGateways(named, mux), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}, // a relay needs HTTP/1.1
		ErrorLog:     slog.NewLogLogger(d.logger.Handler(), slog.LevelDebug),
	}
	go func() {
		if err := server.Serve(d.listeners.gateways); !errors.Is(err, http.ErrServerClosed) {
			d.fail("gateways on other machines", err)
		}
	}()
	d.stops.Push("gateways on other machines", func(ctx context.Context) error {
		d.gateways.feed.Close()
		return errors.Join(server.Shutdown(ctx), d.gateways.relay.Shutdown(ctx))
	})
	return nil
}

// Gateways returns the daemon's own gateway, and those on other machines.
func (d *Daemon) Gateways() []svc.Gateway {
	own := svc.Gateway{
		Name: "server", Own: true, Address: d.listeners.gateway.Addr().String(), Listens: d.listeners.gateway.Addr().String(), Version: buildinfo.Read().Version,
		Connected: true, ConnectedAt: d.began, ReportedAt: time.Now(), Requests: d.gateway.Requests(), Inflight: d.gateway.Inflight(), Websockets: d.gateway.Websockets(),
	}
	list := []svc.Gateway{own}
	if d.gateways != nil {
		list[0].Generation = d.gateways.log.Generation()
		list = append(list, d.gateways.feed.Gateways()...)
	}
	return list
}

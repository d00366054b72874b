package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/all"
	"github.com/svcctl/svcctl/internal/lib/buildinfo"
	"github.com/svcctl/svcctl/internal/lib/clientlimit"
	"github.com/svcctl/svcctl/internal/lib/machine"
	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/server/api/dashboard"
	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/server/upkeep/health"
	"github.com/svcctl/svcctl/internal/server/versions/artifact"
	"github.com/svcctl/svcctl/internal/svc"
)

// startServers serves both ports.
func (d *Daemon) startServers(ctx context.Context, _ Config) error {
	api, err := d.newAPI() //nolint:contextcheck // each request has a context of its own
	if err != nil {
		return err
	}
	d.metrics.Watch(context.WithoutCancel(ctx), d.metricSources())
	if err := d.startHTTPS(ctx); err != nil {
		return err
	}
	d.serve("API", d.listeners.api, api)
	d.stops.Push("followers of events", func(context.Context) error { d.feed.Close(); return nil })
	d.stops.Push("followers of logs", func(context.Context) error { d.logs.Stop(); d.recent.Stop(); return nil }) // the API waits for them
	go func() {
		if err := d.gateway.Serve(context.WithoutCancel(ctx), d.listeners.gateway); err != nil {
			d.fail("gateway", err)
		}
	}()
	d.stops.Push("gateway", d.stopGateway)
	if err := d.startGateways(ctx); err != nil {
		return err
	}
	if d.front != nil {
		d.stops.Push("new connections of https", d.front.Close) // first
	}
	return nil
}

func (d *Daemon) newAPI() (http.Handler, error) {
	checks, err := d.ownership.checks(d.cfg, d.supervisor.Runtimes)
	if err != nil {
		return nil, err
	}
	if d.copies != nil {
		checks = append(checks, &health.Check{Name: "copy of the registry", Run: d.copies.Check(copyLimit)})
	}
	deployToken, adminToken := d.tokens()
	named, err := d.namedTokens()
	if err != nil {
		return nil, err
	}
	d.proxies.Set(d.cfg.TrustedProxies)
	pages, err := dashboard.New(dashboard.Config{
		API:    http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.api.Get().ServeHTTP(w, r) }),
		Logger: d.logger, Client: d.proxies.Client,
	})
	if err != nil {
		return nil, err
	}
	deps := httpapi.Deps{
		Projects: d.registry, Versions: d.registry, Environments: d.registry, Promotions: d.registry,
		Previews: d.previews, Bundles: d.deploy.Get(), Retention: d.retention, Deployer: d.deploy.Get(), Promoter: d.promote, Plans: d.divergence, Lifecycle: d.lifecycle.Get(), Secrets: d.sealed, Webhooks: d.hooks, GC: d.gc,
		Uploads: artifact.New(artifact.Config{
			Bucket: d.objects.artifacts, Presigner: d.objects.presigner(), BaseURL: "/v1",
			Key: []byte(d.secrets.UploadKey), MaxSize: d.cfg.Limits.Total, Versions: d.registry, Assets: d.assets,
			Arrived: d.deploy.Get().ArtifactArrived, Logger: d.logger,
		}),
		Audit: d.registry,
		Logs:  d.logs, InSources: d.logs.InSources, History: d.keepHistory, ServerLog: d.recent, Leases: d.ownership, Data: d.sleep.Get(), DataPatterns: binding.Patterns(all.Kinds()), Events: d.sleep.Get(), Feed: d.feed, Routes: d, Runtimes: runtimes{d.sleep.Get(), d.deploy.Get()}, Registry: d.registry, Store: checks, Queue: d.registry,
		Overview: d.registry, Traffic: d.traffic, State: d, Checkup: d.newCheckup(), Certificates: d, Machines: d, Gateways: d, Settings: d.cfg.InEffect, GatewayURL: d.info.Gateway,
		Metrics: d.metrics.Handler(), Observer: d.metrics, Ingress: d.ingress, Logger: d.logger,
		Tokens: httpapi.Tokens{Deploy: deployToken, Admin: adminToken, Named: named, Trouble: d.tokensTrouble()}, TicketKey: svc.Secret(d.secrets.UploadKey),
		Client: d.proxies.Client, PublicURL: d.cfg.APIURL, Hosts: d.cfg.APIHosts,
		QueueMax: d.cfg.QueueMax, MaxUpload: d.cfg.Limits.Total, Version: buildinfo.Read().Version,
		Pages: pages, Settle: d.settle(), ReadOnlyChanged: d.readOnlyChanged,
	}
	if d.domains != nil {
		deps.Domains = d.domains
	}
	server, err := httpapi.New(deps)
	if err != nil {
		return nil, err
	}
	d.api.Set(server)
	return server, nil
}

// metricSources returns the sources of gauges.
func (d *Daemon) metricSources() obs.Sources {
	return obs.Sources{
		QueueDepth: d.registry.QueueDepth, QueueMax: d.cfg.QueueMax,
		Versions: d.registry.Counts, Runtimes: d.supervisor.Measured,
		Queues:            d.supervisor.Queues,
		NotServing:        func() int { return len(d.deploy.Get().NotServing()) },
		Asleep:            func() int { return len(d.deploy.Get().AllAsleep()) },
		Spares:            d.supervisor.Spares,
		Certificates:      d.Certificates,
		Orders:            d.CertificateOrders,
		Tokens:            d.tokensTrouble(),
		SecretKeys:        d.registry.SecretKeys,
		Disk:              func() (machine.Disk, error) { return machine.DiskOf(d.cfg.DataDir) },
		GatewayInflight:   func() int64 { return int64(d.gateway.Inflight()) },
		GatewayWebsockets: func() int64 { return int64(d.gateway.Websockets()) },
		GatewayConns:      func() int64 { return int64(d.gateway.Connections()) },
	}
}

// headerTimeout is the time limit for reading a request's header.
const headerTimeout = 10 * time.Second

// idleTimeout is the time limit between the requests of a connection.
const idleTimeout = 2 * time.Minute

// serve serves a handler on a listener until Stop, which waits for requests in flight.
// Its clients have the limits of SVC_CLIENT_TIMEOUT and SVC_API_MAX_CONNECTIONS.
func (d *Daemon) serve(name string, l net.Listener, h http.Handler) {
	limits := clientLimits(d.cfg.Clients, fileLimit())
	guard := &clientlimit.Guard{
		Timeout: limits.Timeout, Gate: clientlimit.NewGate(clientlimit.Caps{Total: limits.API, PerClient: limits.API / 2}),
	}
	server := &http.Server{
		Handler: d.proxies.PerClient(limits.API/2, h), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, ConnState: guard.ConnState,
		ErrorLog: slog.NewLogLogger(d.logger.Handler(), slog.LevelDebug),
	}
	server.RegisterOnShutdown(guard.Stop)
	go func() {
		if err := server.Serve(guard.Listener(l)); !errors.Is(err, http.ErrServerClosed) {
			d.fail(name, err)
		}
	}()
	d.stops.Push(name, func(ctx context.Context) error {
		if err := server.Shutdown(ctx); err != nil {
			return errors.Join(err, server.Close())
		}
		return nil
	})
}

package daemon

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/edge/geoip"
	"github.com/svcctl/svcctl/internal/fleet/driver"
	"github.com/svcctl/svcctl/internal/fleet/process"
	"github.com/svcctl/svcctl/internal/fleet/supervisor"
	"github.com/svcctl/svcctl/internal/server/logs"
	"github.com/svcctl/svcctl/internal/server/upkeep/gc"
	"github.com/svcctl/svcctl/internal/server/versions/arming"
	"github.com/svcctl/svcctl/internal/server/versions/assetstore"
	"github.com/svcctl/svcctl/internal/server/versions/calls"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/server/versions/divergence"
	"github.com/svcctl/svcctl/internal/server/versions/fork"
	"github.com/svcctl/svcctl/internal/server/versions/lifecycle"
	"github.com/svcctl/svcctl/internal/server/versions/preview"
	"github.com/svcctl/svcctl/internal/server/versions/promote"
	"github.com/svcctl/svcctl/internal/server/versions/retention"
	sealed "github.com/svcctl/svcctl/internal/server/versions/secrets"
	"github.com/svcctl/svcctl/internal/server/versions/watch"
	"github.com/svcctl/svcctl/internal/server/webhooks"
	"github.com/svcctl/svcctl/internal/svc"
)

// startServices creates the services and connects them.
func (d *Daemon) startServices(ctx context.Context, c Config) error {
	d.verify = d.newVerify()
	d.assets = assetstore.New(assetstore.Config{Bucket: d.objects.artifacts, Dir: d.dirs.cache(), Limits: d.limits()})
	if err := d.startFeed(ctx); err != nil {
		return err
	}
	locations, err := geoip.Open(d.cfg.GeoIP, d.logger)
	if err != nil {
		return err
	}
	d.requestLog = logs.NewRecorder(d.dirs.versionLogs, d.logger)
	d.stops.Push("request logs", func(context.Context) error { d.requestLog.Close(); return nil })
	d.logs = logs.New(d.dirs.versionLogs, d.dirs.bundle)
	d.startTraces() //nolint:contextcheck // spans are sent until the daemon stops
	access, err := d.startAccessLog(ctx)
	if err != nil {
		return err
	}
	d.gateway = d.newGateway(access, locations)
	table, err := d.routeTable(ctx)
	if err != nil {
		return err
	}
	runtimes, err := d.startRuntimes(ctx, c)
	if err != nil {
		return err
	}
	if d.supervisor, err = supervisor.New(d.supervisorConfig(c, runtimes)); err != nil {
		return err
	}
	d.stops.Push("runtimes", d.supervisor.Stop)
	d.events.asked.Subscribe(d.supervisor.Asked)
	d.events.runtime.Subscribe(d.feed.RuntimeChanged)
	d.routing = routing{d.gateway, table, arming.New(d.registry, d.supervisor, d.logger), d.requestLog, d.traffic, context.WithoutCancel(ctx)}
	d.stops.Push("arming", d.routing.arming.Stop)
	if d.jobs, err = deployqueue.New(deployqueue.Config{
		Store: d.registry, Loops: d.cfg.OrchWorkers, Logger: d.logger,
		Run: func(ctx context.Context, j deployqueue.Job) error { return d.deploy.Get().Run(ctx, j) },
	}); err != nil {
		return err
	}
	if err := d.newKeepers(); err != nil {
		return err
	}
	if d.divergence, err = divergence.New(d.divergenceDeps()); err != nil {
		return err
	}
	if err := d.startPromotions(); err != nil {
		return err
	}
	if d.fork, err = fork.New(d.forkDeps()); err != nil {
		return err
	}
	d.previews = preview.New(d.registry, table, verbs{d}, d.logger)
	d.startDomains(table)
	if err := d.startVersions(ctx); err != nil {
		return err
	}
	d.retention = retention.New(retention.Deps{
		Registry: d.registry, Verbs: d.lifecycle.Get(), Gateway: d.routing, Logger: d.logger, Failed: d.cfg.KeepFailed, Archived: d.cfg.KeepArchived,
	})
	if d.gc, err = gc.New(d.gcDeps()); err != nil {
		return err
	}
	if err := d.newJanitor(); err != nil {
		return err
	}
	if d.cfg.Hosts.Remote { // machines join before the first version needs one
		return d.supervisor.Start(ctx)
	}
	return nil
}

// newKeepers creates the stores of secrets and webhooks.
func (d *Daemon) newKeepers() (err error) {
	if d.sealed, err = sealed.New(sealed.Deps{
		Registry: d.registry, Runtimes: func() sealed.Runtimes { return d.lifecycle.Get() }, Forks: d.cfg.Forks, Keys: d.cfg.SecretsKey, Logger: d.logger,
	}); err != nil {
		return err
	}
	d.hooks, err = webhooks.New(webhooks.Deps{
		Registry: d.registry, Master: []byte(d.secrets.UploadKey), Allowed: d.cfg.WebhookAllow, Logger: d.logger, Done: d.metrics.WebhookTried,
	})
	return err
}

// newGateway returns the gateway of this machine, without routes.
func (d *Daemon) newGateway(access func(gateway.Access), locations *geoip.DB) *gateway.Gateway {
	limits := clientLimits(d.cfg.Clients, fileLimit())
	return gateway.New(gateway.Config{
		Ingress: d.ingress, Engine: gateway.Engine(d.cfg.GatewayEngine), Logger: d.logger, PublicHost: publicHost(d.cfg.GatewayURL),
		Observer: observer{d.metrics, d.requestLog, d.traffic, d.tracer}, Access: access, Sampled: d.sampled(), VerifySecret: d.verify.Secret,
		Asked: d.events.asked.Tell, Rouse: d.events.rouse.Tell,
		TrustedProxies: d.cfg.TrustedProxies, LocationHeaders: d.cfg.TrustedProxies != nil, Locate: locations.Locate,
		Machine: d.machineOf, Inherited: d.inherited(),
		Exception: d.exceptions(), Compress: d.cfg.Compression, ClientTimeout: limits.Timeout, MaxConns: limits.Total, MaxConnsPerClient: limits.PerClient, MaxConnsPerVersion: limits.PerVersion,
	})
}

// startVersions creates what makes, wakes and ends versions.
func (d *Daemon) startVersions(ctx context.Context) error {
	deploys, err := deploy.New(d.deployDeps())
	if err != nil {
		return err
	}
	d.deploy.Set(deploys)
	d.events.runtime.Subscribe(deploys.RuntimeChanged)
	sleeping := d.newSleep()
	d.sleep.Set(sleeping)
	d.events.rouse.Subscribe(func(ref svc.Ref) { sleeping.Rouse(context.WithoutCancel(ctx), ref) })
	d.stops.Push("versions that sleep", stopSoon(sleeping.Stop))
	verbs, err := lifecycle.New(d.lifecycleDeps())
	if err != nil {
		return err
	}
	d.lifecycle.Set(verbs)
	d.stops.Push("changes of secrets", stopSoon(d.sealed.Stop))
	return nil
}

// startPromotions creates what changes productions.
func (d *Daemon) startPromotions() (err error) {
	if d.promote, err = promote.New(d.promoteDeps()); err != nil {
		return err
	}
	d.stops.Push("promotions", d.promote.Stop)
	d.watch.Set(watch.New(watch.Deps{Registry: d.registry, Traffic: d.traffic, Release: d.promote.Release, Logger: d.logger}))
	d.stops.Push("watches of releases", d.watch.Get().Stop)
	return nil
}

// exceptions returns what finds the exceptions that preview hosts show, nil if they do not.
func (d *Daemon) exceptions() func(context.Context, svc.Ref, string, time.Time) string {
	if !d.cfg.PreviewErrors {
		return nil
	}
	return func(ctx context.Context, ref svc.Ref, id string, since time.Time) string {
		if d.watchMode { // its visitor is the author of the worker
			return d.logs.ExceptionInSource(ctx, ref, id, since)
		}
		return d.logs.Exception(ctx, ref, id, since)
	}
}

func (d *Daemon) supervisorConfig(c Config, runtimes driver.Driver) supervisor.Config {
	return supervisor.Config{
		Driver: runtimes, Leave: d.leader != nil && d.cfg.Hosts.Remote, Host: d.hostConfig(c),
		Logger: d.logger, Wanted: d.gateway.IsWanted, LastUse: d.gateway.LastUse, Calls: d.newCalls(),
		OnChange:  d.events.runtime.Tell,
		OnLaunch:  d.metrics.RuntimeLaunched,
		OnRestart: func(_ svc.Ref, reason string) { d.metrics.RuntimeRestarted(reason) },
		Unlogged: func(ref svc.Ref, reason string) {
			d.requestLog.Record(ref, &svc.LogLine{Time: time.Now(), Level: "fatal", Source: svc.LogRuntime, Message: reason})
		},
		OnRequests: func(list []svc.RequestCount) {
			for _, r := range list {
				d.metrics.S3Requests(r)
			}
		},
		OnSpans: d.tracer.Worker,
		OnEvents: func(list []svc.EventCount) {
			for _, e := range list {
				d.metrics.EventsDone(e.Handler, string(e.Outcome), e.N)
			}
		},
	}
}

// hostConfig returns the part of a spec that is equal for all versions.
func (d *Daemon) hostConfig(c Config) svc.HostConfig {
	return svc.HostConfig{
		HeapMB: d.cfg.WorkerHeapMB, MemoryMB: d.cfg.WorkerMemoryMB, MemoryMaxMB: d.cfg.WorkerMemoryMaxMB, Subrequests: d.cfg.WorkerSubrequests, QueueLimit: d.cfg.MaxQueueMessages, Traces: d.tracer != nil, DiskMB: d.cfg.VersionDiskMB,
		StartTimeout: d.cfg.WorkerStartTimeout, StartCPU: d.cfg.WorkerStartCPU, Storage: d.ownership.places, Network: d.cfg.WorkerNetwork, Confine: d.cfg.WorkerConfine, Isolation: d.cfg.Isolation(), CacheBytes: d.cfg.CacheSize,
		Backends: d.cfg.Backends, Inspect: c.Inspect,
	}
}

// localRuntimes returns the driver for worker hosts on this machine.
func (d *Daemon) localRuntimes(ctx context.Context, c Config) (*process.Driver, error) {
	config := process.Config{
		Logger: d.logger, Environ: hostEnv(d.cfg, d.objects.embedded != nil), Workerd: d.workerd, RunDir: d.dirs.runtimes(),
		Host: d.hostConfig(c), Spares: d.cfg.SpareHosts, SparesSoon: c.WatchMode,
	}
	if d.groups.tree != nil {
		config.Groups = d.groups.tree
	}
	d.setHostCommand(ctx, &config, c.Command)
	return process.New(config)
}

func (d *Daemon) promoteDeps() promote.Deps {
	return promote.Deps{
		Projects: d.registry, Versions: d.registry, Promotions: d.registry, Journals: d.registry,
		Gateway: d.routing, Websockets: d.routing, Routes: toDeploy{d}, Runtimes: toDeploy{d},
		Bucket: d.objects.runtime, Logger: d.logger, Observer: d.metrics, Leftovers: d.divergence, Guards: d.guards,
		RollbackKeep: d.cfg.Archive.RollbackKeep,
		RefreshSecrets: func(ctx context.Context, ref svc.Ref) error {
			_, err := d.lifecycle.Get().RefreshSecrets(ctx, ref)
			return err
		},
		Watched:  func(ctx context.Context, op svc.Promotion) { d.watch.Get().Watch(ctx, op) },
		Releases: d.registry, Sealer: d.supervisor, Deploys: toDeploy{d}, Forks: d.cfg.Forks, Survives: d.settle(),
		ReleaseHold: d.cfg.Release.Hold, ReleaseDrain: d.cfg.Release.Drain,
	}
}

func (d *Daemon) deployDeps() deploy.Deps {
	return deploy.Deps{
		Versions: d.registry, Inventory: d.registry, Submissions: d.registry,
		Runtimes: d.supervisor, Branches: d.fork, Gateway: d.routing, Production: d.promote, Previews: d.previews, Callees: d.callees(), Secrets: d.sealed,
		Artifacts: d.objects.artifacts, BundleKeys: bundle.Keys, Assets: d.assets, Ingress: d.ingress, Logger: d.logger,
		Notify: d.jobs.Notify, Observer: d.metrics, Traces: d.tracer, HTTP: probeClient(),
		Dirs:    deploy.Dirs{Cache: d.dirs.cache(), Data: d.dirs.versions(), Logs: d.dirs.logs()},
		History: !d.cfg.History.Off(), ArtifactsDir: d.cfg.ArtifactsDir, ArtifactWait: d.cfg.ArtifactWait, Limits: d.limits(),
		Restores: d.restores(), QueueMax: d.cfg.QueueMax, Lenient: d.cfg.Lenient, Forks: d.cfg.Forks, ScrubSQL: d.cfg.ScrubSQL, Verify: d.verify, Qualify: d.newQualify(), Check: d.newCheck(),
		Sleep: deploy.Sleep{On: d.cfg.Sleep.Idle > 0, Production: d.cfg.Sleep.Production, AtStart: d.watchMode}, NoSync: d.watchMode || d.leader != nil,
	}
}

// guards reports whether the bundle of a version asks for the guard of its project.
func (d *Daemon) guards(ctx context.Context, ref svc.Ref) (bool, error) {
	m, err := d.deploy.Get().Manifest(ctx, ref)
	return m.Guards(), err
}

func (d *Daemon) callees() calls.Callees {
	return calls.Callees{
		Registry: d.registry,
		Manifest: func(ctx context.Context, ref svc.Ref) (bundle.Manifest, error) {
			return d.deploy.Get().Manifest(ctx, ref)
		},
	}
}

func (d *Daemon) lifecycleDeps() lifecycle.Deps {
	return lifecycle.Deps{
		Versions: d.registry, Inventory: d.registry, Runtimes: d.deploy.Get(), Routes: lifecycleRoutes{d.deploy.Get(), d.gateway},
		Usage: usage{d.gateway, d.sleep.Get()}, Idle: lifecycle.Idle{After: d.cfg.Archive.IdleAfter(), Grace: d.cfg.Archive.Grace},
		Data: d.fork, Previews: d.previews, Logger: d.logger, Observer: d.metrics,
	}
}

func (d *Daemon) limits() bundle.Limits {
	l := d.cfg.Limits
	return bundle.Limits{Modules: l.Modules, Asset: l.Asset, Files: l.Files, Total: l.Total}
}

// newVerify returns the settings of the probe through the gateway, with a secret of
// this process.
func (d *Daemon) newVerify() deploy.Verify {
	return deploy.Verify{URL: d.cfg.GatewayVerifyURL, Header: gateway.VerifyHeader, Secret: svc.Secret(rand.Text())}
}

// newQualify returns the settings of the step deploy_ready, which SVC_ELASTIC_RUNTIME
// turns on.
func (d *Daemon) newQualify() deploy.Qualify {
	if !d.cfg.Elastic {
		return deploy.Qualify{}
	}
	return d.newCheck()
}

// newCheck returns the settings of the request to a version that a release makes.
func (d *Daemon) newCheck() deploy.Qualify {
	return deploy.Qualify{
		Verify:      deploy.Verify{URL: origin(d.listeners.gateway), Header: gateway.VerifyHeader, Secret: d.verify.Secret},
		RouteHeader: gateway.RouteHeader,
	}
}

// Direct returns the headers of a request to the gateway that is for a version whatever
// its host is. They hold a secret of this process.
func (d *Daemon) Direct(ref svc.Ref) http.Header {
	return http.Header{gateway.RouteHeader: {ref.String()}, gateway.VerifyHeader: {d.verify.Secret.Reveal()}}
}

// ShowFiles has a version that serves show the static files of another one: see
// deploy.Service.ShowFiles.
func (d *Daemon) ShowFiles(ctx context.Context, in, of svc.Ref) error {
	return d.deploy.Get().ShowFiles(ctx, in, of)
}

// Inspector returns the address of the inspector of a version's workerd; "" for none.
func (d *Daemon) Inspector(ref svc.Ref) string {
	e, ok := d.supervisor.Endpoint(ref)
	if !ok || e.Inspector == 0 {
		return ""
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(e.Inspector))
}

// probeClient returns the HTTP client of the probe, which follows no redirects.
func probeClient() *http.Client {
	return &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

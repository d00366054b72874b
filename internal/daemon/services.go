package daemon

import (
	"context"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/control"
	"github.com/svcctl/svcctl/internal/deploy"
	"github.com/svcctl/svcctl/internal/gateway"
	"github.com/svcctl/svcctl/internal/httpapi"
	"github.com/svcctl/svcctl/internal/jobs"
	"github.com/svcctl/svcctl/internal/lifecycle"
	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/promote"
	"github.com/svcctl/svcctl/internal/supervisor"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/upload"
)

// startServices makes the services and joins them. None of them works yet but
// the supervisor, which must be stopped from here on.
func (d *Daemon) startServices(_ context.Context, c Config) error {
	d.verify = d.newVerify()
	d.gateway = gateway.New(gateway.Config{
		Ingress: d.ingress, Logger: d.logger, Observer: gatewayMetrics{d.metrics}, VerifySecret: d.verify.Secret,
	})
	var err error
	if d.supervisor, err = supervisor.New(d.supervisorConfig(c)); err != nil {
		return err
	}
	d.onStop("runtimes", d.supervisor.Stop)
	d.storage.lag = d.lagging
	d.onStop("request times", func(ctx context.Context) error { d.flushRequests(ctx); return nil })
	if d.jobs, err = jobs.New(jobs.Config{
		Store: d.registry, Loops: d.cfg.OrchWorkers, Logger: d.logger,
		Run: func(ctx context.Context, j jobs.Job) error { return d.deploy.Run(ctx, j) },
	}); err != nil {
		return err
	}
	if d.promote, err = promote.New(d.promoteDeps()); err != nil {
		return err
	}
	d.onStop("promotes", d.promote.Stop)
	if d.deploy, err = deploy.New(d.deployDeps()); err != nil {
		return err
	}
	if d.lifecycle, err = lifecycle.New(d.lifecycleDeps()); err != nil {
		return err
	}
	return d.newGC()
}

func (d *Daemon) supervisorConfig(c Config) supervisor.Config {
	return supervisor.Config{
		HostCommand: append(append([]string{}, c.Command...), HostCommand), Environ: hostEnv(d.cfg, d.objects.embedded != nil),
		Storage: d.storage.places, Workerd: d.workerd, RunDir: d.dirs.runtimes(), HeapMB: d.cfg.WorkerHeapMB, StartTimeout: d.cfg.WorkerStartTimeout,
		Logger: d.logger,
		OnChange: func(ref svc.Ref, s supervisor.State, e supervisor.Endpoint) {
			d.deploy.RuntimeChanged(ref, deploy.RuntimeState(s), deploy.Endpoint(e))
		},
		OnRestart: func(_ svc.Ref, reason string) { d.metrics.RuntimeRestarted(reason) },
		OnRequests: func(list []control.Requests) {
			for _, r := range list {
				d.metrics.S3Requests(r.Op, r.Result, r.N)
			}
		},
	}
}

func (d *Daemon) promoteDeps() promote.Deps {
	return promote.Deps{
		Projects: d.registry, Versions: d.registry, Promotions: d.registry, Journals: d.registry,
		Gateway: d.gateway, Websockets: d.gateway, Routes: statusChanged{d},
		Bucket: d.objects.runtime, Logger: d.logger, Observer: promoteMetrics{d.metrics},
	}
}

func (d *Daemon) deployDeps() deploy.Deps {
	return deploy.Deps{
		Versions: d.registry, Inventory: d.registry, Submissions: submissions{d.registry},
		Runtimes: runtimes{d.supervisor}, Branches: versionData{d}, Gateway: routing{d.gateway}, Production: d.promote,
		Artifacts: d.objects.artifacts, Ingress: d.ingress, Logger: d.logger,
		Notify: d.jobs.Notify, Observer: deployMetrics{d.metrics}, HTTP: probeClient(),
		Dirs:         deploy.Dirs{Cache: d.dirs.cache(), Data: d.dirs.versions(), Logs: d.dirs.logs()},
		ArtifactsDir: d.cfg.ArtifactsDir, ArtifactWait: d.cfg.ArtifactWait, Limits: d.limits(),
		QueueMax: d.cfg.QueueMax, Lenient: d.cfg.Lenient, Forks: d.cfg.Forks, ScrubSQL: d.cfg.ScrubSQL, Verify: d.verify,
	}
}

func (d *Daemon) lifecycleDeps() lifecycle.Deps {
	return lifecycle.Deps{
		Versions: d.registry, Inventory: d.registry, Runtimes: d.deploy, Routes: lifecycleRoutes{d.deploy, d.gateway},
		Vault: versionData{d}, Logger: d.logger, Observer: lifecycleMetrics{d.metrics},
	}
}

func (d *Daemon) limits() bundle.Limits {
	l := d.cfg.Limits
	return bundle.Limits{Modules: l.Modules, Asset: l.Asset, Files: l.Files, Total: l.Total}
}

// startServers opens both ports for business.
func (d *Daemon) startServers(ctx context.Context, _ Config) error {
	api, err := d.newAPI()
	if err != nil {
		return err
	}
	d.metrics.Watch(context.WithoutCancel(ctx), d.metricSources())
	d.serve("API", d.listeners.api, api)
	go func() {
		if err := d.gateway.Serve(context.WithoutCancel(ctx), d.listeners.gateway); err != nil {
			d.fail("gateway", err)
		}
	}()
	d.onStop("gateway", d.gateway.Shutdown)
	return nil
}

func (d *Daemon) newAPI() (http.Handler, error) {
	deployToken, adminToken := d.tokens()
	return httpapi.New(httpapi.Deps{
		Projects: d.registry, Versions: d.registry, Promotions: d.registry,
		Deployer: deployer{d.deploy}, Promoter: promoter{d.promote}, Lifecycle: d.lifecycle, GC: d.gc,
		Uploads: upload.New(upload.Config{
			Bucket: d.objects.artifacts, Presigner: d.objects.presigner(), BaseURL: "/v1",
			Key: []byte(d.secrets.UploadKey), MaxSize: d.cfg.Limits.Total, Versions: d.registry,
			Arrived: d.deploy.ArtifactArrived, Logger: d.logger,
		}),
		Logs: logs{d.dirs}, Data: d.supervisor, Routes: d, Registry: d.registry, Store: d.storage, Queue: d.registry,
		Metrics: d.metrics.Handler(), Observer: d.metrics, Ingress: d.ingress, Logger: d.logger,
		Tokens:   httpapi.Tokens{Deploy: deployToken, Admin: adminToken},
		QueueMax: d.cfg.QueueMax, MaxUpload: d.cfg.Limits.Total, Version: obs.BuildInfo().Version,
	})
}

// metricSources are the states that a scrape reads.
func (d *Daemon) metricSources() obs.Sources {
	return obs.Sources{
		QueueDepth: d.registry.QueueDepth, QueueMax: d.cfg.QueueMax,
		Versions: func(ctx context.Context) (map[string]int, error) {
			counts, err := d.registry.Counts(ctx)
			named := make(map[string]int, len(counts))
			for status, n := range counts {
				named[string(status)] = n
			}
			return named, err
		},
		Runtimes:          d.runtimeSeries,
		GatewayInflight:   func() int64 { return int64(d.gateway.Inflight()) },
		GatewayWebsockets: func() int64 { return int64(d.gateway.Websockets()) },
	}
}

func (d *Daemon) runtimeSeries() []obs.Runtime {
	var series []obs.Runtime
	for _, r := range d.supervisor.Runtimes() {
		if r.State != supervisor.StateStopped {
			series = append(series, obs.Runtime{
				Project: r.Ref.Project, Version: r.Ref.Version, Up: r.State == supervisor.StateServing, RSSBytes: r.RSSBytes,
			})
		}
	}
	return series
}

func upstream(r supervisor.Runtime) string {
	if r.Endpoint.Port == 0 {
		return ""
	}
	return "127.0.0.1:" + strconv.Itoa(r.Endpoint.Port)
}

func (l layout) versionLogs(ref svc.Ref) string {
	return filepath.Join(l.logs(), ref.Project, ref.Version)
}

// headerTimeout bounds how long a client may take to say what it wants.
const headerTimeout = 10 * time.Second

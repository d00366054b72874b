package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/deploy"
	"github.com/svcctl/svcctl/internal/gateway"
	"github.com/svcctl/svcctl/internal/gc"
	"github.com/svcctl/svcctl/internal/jobs"
	"github.com/svcctl/svcctl/internal/lifecycle"
	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/promote"
	"github.com/svcctl/svcctl/internal/provision"
	"github.com/svcctl/svcctl/internal/registry"
	"github.com/svcctl/svcctl/internal/supervisor"
	"github.com/svcctl/svcctl/internal/svc"
)

// The hidden commands our own binary is started with as a child.
const (
	HostCommand        = "runtime-host"
	ObjectStoreCommand = "object-store"
)

const (
	// workStop is how long a stop waits for deploys, wakes and the like to end by
	// themselves.
	workStop = 2 * time.Second
	// sweepEvery is how often leftovers of destroyed and archived versions are
	// looked for.
	sweepEvery = 10 * time.Minute
)

// Config is what a daemon is started with.
type Config struct {
	Settings   *config.Daemon
	Command    []string // our own binary, for child processes
	Logger     *slog.Logger
	Installing func(stage string) // hears of the provisioning of workerd; may be nil
}

// Info is what a person wants to know about a running daemon.
type Info struct {
	API, Gateway, BaseDomain string
	S3, S3Keys               string // "" without an embedded store's port
	Tokens                   string // where they are
	DataDir                  string
}

// Daemon is a running control plane.
type Daemon struct {
	cfg     *config.Daemon
	logger  *slog.Logger
	dirs    layout
	secrets secrets
	info    Info
	failed  chan error
	stops   []stop // in the order of the starts

	objects    *objects
	storage    *storage
	registry   *registry.DB
	metrics    *obs.Metrics
	ingress    *svc.Ingress
	listeners  listeners
	gateway    *gateway.Gateway
	supervisor *supervisor.Supervisor
	promote    *promote.Service
	deploy     *deploy.Service
	lifecycle  *lifecycle.Service
	gc         *gc.Service
	jobs       *jobs.Worker
	verify     deploy.Verify
	workerd    string
}

// stop ends one part. Its context bounds how polite it may be.
type stop struct {
	name string
	do   func(context.Context) error
}

// Start brings everything up in order and returns when it serves. When one part
// fails, those before it are stopped again. ctx bounds the start only.
func Start(ctx context.Context, c Config) (*Daemon, error) {
	d := &Daemon{cfg: c.Settings, logger: c.Logger, failed: make(chan error, 2), metrics: obs.NewMetrics(obs.BuildInfo())}
	for _, step := range []func(context.Context, Config) error{
		d.startDirs, d.startWorkerd, d.startObjects, d.startStorage, d.startRegistry, d.startListeners,
		d.startServices, d.startRoutes, d.startServers, d.startWork, d.announce,
	} {
		if err := step(ctx, c); err != nil {
			return nil, errors.Join(err, d.Stop(context.WithoutCancel(ctx)))
		}
	}
	return d, nil
}

// Info describes the daemon.
func (d *Daemon) Info() Info { return d.info }

// Failed delivers the error of a part that cannot go on.
func (d *Daemon) Failed() <-chan error { return d.failed }

// Stop ends every part in the reverse order of the starts. When ctx ends, what
// is still under way is cut off; nothing acknowledged is lost by that.
func (d *Daemon) Stop(ctx context.Context) error {
	var errs []error
	for _, s := range slices.Backward(d.stops) {
		if err := s.do(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", s.name, err))
		}
	}
	d.stops = nil
	return errors.Join(errs...)
}

func (d *Daemon) onStop(name string, do func(context.Context) error) {
	d.stops = append(d.stops, stop{name, do})
}

func (d *Daemon) startDirs(context.Context, Config) error {
	data, err := openDataDir(d.cfg.DataDir)
	if err != nil {
		return err
	}
	d.onStop("data directory", func(context.Context) error { return data.close() })
	if d.secrets, err = data.secrets(); err != nil {
		return err
	}
	run, remove, err := data.runDir(d.cfg.Environment.Temporary)
	if err != nil {
		return err
	}
	d.onStop("runtime directory", func(context.Context) error { return remove() })
	d.dirs = layout{data: data, run: run}
	return nil
}

func (d *Daemon) startWorkerd(ctx context.Context, c Config) (err error) {
	d.workerd, err = provision.Ensure(ctx, WorkerdOptions(d.cfg, c.Installing))
	return err
}

// WorkerdOptions is where these settings look for workerd.
func WorkerdOptions(cfg *config.Daemon, stage func(string)) provision.Options {
	o := provision.Options{Explicit: cfg.Workerd, CacheDir: cfg.Environment.CacheDir}
	if stage != nil {
		o.Progress = func(s provision.Stage) { stage(string(s)) }
	}
	return o
}

func (d *Daemon) startObjects(ctx context.Context, c Config) (err error) {
	if d.objects, err = openObjects(ctx, d.cfg, d.dirs, c.Command, d.logger, d.countRequest); err != nil {
		return err
	}
	d.onStop("object store", func(context.Context) error { d.objects.close(); return nil })
	return nil
}

func (d *Daemon) countRequest(op, result string) { d.metrics.S3Requests(op, result, 1) }

func (d *Daemon) startRegistry(ctx context.Context, _ Config) (err error) {
	if d.registry, err = registry.Open(ctx, d.cfg.RegistryDB); err != nil {
		return err
	}
	d.onStop("registry", func(context.Context) error { return d.registry.Close() })
	return nil
}

func (d *Daemon) startListeners(ctx context.Context, _ Config) (err error) {
	if d.listeners, err = listen(ctx, d.cfg); err != nil {
		return err
	}
	d.onStop("listeners", func(context.Context) error { return d.listeners.close() })
	d.ingress, err = newIngress(d.cfg, d.listeners.gatewayURL(d.cfg))
	d.info = Info{ //nolint:gosec // it says where the tokens are
		API: d.listeners.apiURL(), Gateway: d.listeners.gatewayURL(d.cfg), BaseDomain: d.cfg.BaseDomain,
		S3: d.objects.endpoint(d.cfg), DataDir: d.cfg.DataDir, Tokens: "as set in the environment",
	}
	if d.objects.embedded != nil && d.info.S3 != "" {
		d.info.S3Keys = d.objects.embedded.KeysFile()
	}
	return err
}

// startRoutes tells the gateway every host and ends the promotes that a crash cut
// off, before anybody is let in: no host answers 404 or from the wrong version
// meanwhile.
func (d *Daemon) startRoutes(ctx context.Context, _ Config) error {
	if err := d.deploy.Announce(ctx); err != nil {
		return err
	}
	return d.promote.ResumeAll(ctx)
}

// startWork begins what goes on by itself: the runtimes of ready versions, the
// deploy queue and the verbs, with what a crash left in them [D25].
func (d *Daemon) startWork(ctx context.Context, _ Config) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d.onStop("work", func(context.Context) error { cancel(); return nil })
	restored := make(chan struct{})
	go func() {
		defer close(restored)
		if err := d.deploy.Restore(work); err != nil && work.Err() == nil {
			d.logger.ErrorContext(work, "not every ready version could be restored", "error", err)
		}
	}()
	d.onStop("restore", func(context.Context) error { cancel(); <-restored; return nil })
	d.startLifecycle(work)
	d.startGC(work)
	if err := d.jobs.Start(work); err != nil {
		return err
	}
	d.onStop("deploys", func(ctx context.Context) error { return politely(ctx, d.jobs.Stop) })
	d.every(work, time.Minute, d.flushRequests)
	return nil
}

// startLifecycle goes on with the verbs that the last daemon did not finish.
func (d *Daemon) startLifecycle(ctx context.Context) {
	resumed := make(chan struct{})
	go func() {
		defer close(resumed)
		if err := d.lifecycle.Resume(ctx); err != nil && ctx.Err() == nil {
			d.logger.ErrorContext(ctx, "not every archived or destroyed version was looked after", "error", err)
		}
	}()
	d.every(ctx, sweepEvery, d.sweep)
	d.onStop("verbs", func(ctx context.Context) error {
		err := politely(ctx, d.lifecycle.Stop)
		<-resumed
		return err
	})
}

// politely stops work that may last: it waits for a bundle, or a worker to
// start. Cut off, it goes on at the next start.
func politely(ctx context.Context, stop func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, workStop)
	defer cancel()
	if err := stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// every runs do at an interval until ctx ends.
func (d *Daemon) every(ctx context.Context, interval time.Duration, do func(context.Context)) {
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(done)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				do(ctx)
			}
		}
	}()
	d.onStop("ticker", func(context.Context) error { cancel(); <-done; return nil })
}

// flushRequests writes when versions were last asked, as last_request_at.
func (d *Daemon) flushRequests(ctx context.Context) {
	if err := d.registry.TouchRequests(ctx, d.gateway.LastRequests()); err != nil {
		d.logger.WarnContext(ctx, "request times were not written", "error", err)
	}
}

// sweep removes what is left of destroyed versions [D22], and seals archived ones
// that could not be.
func (d *Daemon) sweep(ctx context.Context) {
	if err := d.lifecycle.Sweep(ctx); err != nil && ctx.Err() == nil {
		d.logger.WarnContext(ctx, "not every archived or destroyed version was looked after", "error", err)
	}
}

// announce leaves the note for the CLI of the same user.
func (d *Daemon) announce(context.Context, Config) error {
	note := config.Note{PID: os.Getpid(), API: d.info.API, Gateway: d.info.Gateway, S3: d.info.S3}
	if d.cfg.AdminToken == "" {
		note.DeployToken, note.AdminToken = d.secrets.DeployToken, d.secrets.AdminToken
		d.info.Tokens = config.NotePath(d.cfg.DataDir) + " (readable by you only)"
	}
	if err := d.dirs.data.writeNote(note); err != nil {
		return err
	}
	d.onStop("note", func(context.Context) error { return d.dirs.data.removeNote() })
	return nil
}

// tokens are the operator's, or the daemon's own pair [D6].
func (d *Daemon) tokens() (deployToken, adminToken svc.Secret) {
	if d.cfg.AdminToken != "" {
		return d.cfg.DeployToken, d.cfg.AdminToken
	}
	return svc.Secret(d.secrets.DeployToken), svc.Secret(d.secrets.AdminToken)
}

// newVerify is the probe through the gateway, with a secret of this run.
func (d *Daemon) newVerify() deploy.Verify {
	return deploy.Verify{URL: d.cfg.GatewayVerifyURL, Header: gateway.VerifyHeader, Secret: svc.Secret(rand.Text())}
}

// probeClient asks the gateway and follows nothing: the first answer counts.
func probeClient() *http.Client {
	return &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

package daemon

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/edge/accesslog"
	"github.com/svcctl/svcctl/internal/edge/acme"
	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/edge/https"
	"github.com/svcctl/svcctl/internal/edge/traffic"
	"github.com/svcctl/svcctl/internal/fleet/machines"
	"github.com/svcctl/svcctl/internal/fleet/supervisor"
	"github.com/svcctl/svcctl/internal/lib/buildinfo"
	"github.com/svcctl/svcctl/internal/lib/clientlimit"
	"github.com/svcctl/svcctl/internal/lib/service"
	"github.com/svcctl/svcctl/internal/lib/systemd"
	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/server/api/feed"
	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/server/api/tokens"
	"github.com/svcctl/svcctl/internal/server/logs"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/tracing"
	"github.com/svcctl/svcctl/internal/server/upkeep/backup"
	"github.com/svcctl/svcctl/internal/server/upkeep/gc"
	"github.com/svcctl/svcctl/internal/server/upkeep/janitor"
	"github.com/svcctl/svcctl/internal/server/versions/assetstore"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/server/versions/divergence"
	"github.com/svcctl/svcctl/internal/server/versions/domain"
	"github.com/svcctl/svcctl/internal/server/versions/fork"
	"github.com/svcctl/svcctl/internal/server/versions/lifecycle"
	"github.com/svcctl/svcctl/internal/server/versions/preview"
	"github.com/svcctl/svcctl/internal/server/versions/promote"
	"github.com/svcctl/svcctl/internal/server/versions/retention"
	sealed "github.com/svcctl/svcctl/internal/server/versions/secrets"
	"github.com/svcctl/svcctl/internal/server/versions/sleep"
	"github.com/svcctl/svcctl/internal/server/versions/watch"
	"github.com/svcctl/svcctl/internal/server/webhooks"
	"github.com/svcctl/svcctl/internal/svc"
)

// The hidden commands of our own binary as a child process.
const (
	HostCommand        = "runtime-host"
	ObjectStoreCommand = "object-store"
)

// Config configures a daemon.
type Config struct {
	Settings   *config.Daemon
	Command    []string // our own binary, for child processes
	Logger     *slog.Logger
	Sockets    *systemd.Set       // sockets to serve in place of own ones; may be nil
	Installing func(stage string) // called for each stage of installing workerd; may be nil
	// Inspect lets debuggers attach to workers. It is for watch mode alone, so no setting
	// of a server has it.
	Inspect bool
	// Leader is the right to serve if other servers stand by to take over; nil if not. Stop leaves the
	// versions running then: the next server takes them back.
	Leader *Leader
	// WatchMode is a server of one developer: versions other than production, which are
	// saves of sessions before, start when they are asked for.
	WatchMode bool
}

// Info describes a running daemon to a person.
type Info struct {
	API, Gateway, BaseDomain string
	GatewayListens           string // URL of the gateway on this machine; Gateway is the public one
	HTTPS, HTTP              string // addresses of https and of its redirects, host:port; "" without
	S3, S3Keys               string // "" without an embedded store's port
	Tokens                   string // where the tokens are
	DataDir                  string
}

// Daemon is a running daemon. Its methods are safe for concurrent use.
type Daemon struct {
	cfg     *config.Daemon
	logger  *slog.Logger
	recent  *obs.Recent // the newest lines of logger
	dirs    layout
	secrets secrets
	sealed  *sealed.Service // the secrets of projects
	hooks   *webhooks.Service
	info    Info
	failed  chan error
	stops   service.Stack
	began   time.Time
	leaving bool // Replace stops the daemon

	watchMode bool
	leader    *Leader // nil if no other server stands by

	objects    *objectStore
	assets     *assetstore.Store
	ownership  *ownership
	registry   *registry.DB
	copies     *backup.Service // nil with the embedded store
	feed       *feed.Service
	traffic    *traffic.Recorder
	tracer     *tracing.Tracer // nil without traces
	metrics    *obs.Metrics
	ingress    *svc.Ingress
	listeners  listeners
	gateway    *gateway.Gateway
	proxies    clientlimit.Proxies // that the API believes
	tokenFile  *tokens.File        // nil without SVC_TOKENS_FILE
	routing    routing
	gateways   *gateways // nil without gateways on other machines
	requestLog *logs.Recorder
	accessLog  *accesslog.Log // nil for none
	front      *https.Front   // nil without https
	certs      *https.Files   // nil without certificates in files
	orders     *acme.Manager  // nil without an authority
	logs       *logs.Service
	supervisor *supervisor.Supervisor
	fleet      *machines.Fleet // nil unless versions run on other machines
	retention  *retention.Service
	promote    *promote.Service
	divergence *divergence.Service
	fork       *fork.Service
	domains    *domain.Service // nil without SVC_DOMAINS=on
	previews   *preview.Service
	gc         *gc.Service
	janitor    *janitor.Service
	jobs       *deployqueue.Worker
	verify     deploy.Verify
	workerd    string
	groups     groups

	events events
	// Made after services that call them.
	deploy    service.Late[*deploy.Service]
	lifecycle service.Late[*lifecycle.Service]
	sleep     service.Late[*sleep.Service]
	watch     service.Late[*watch.Service]
	api       service.Late[*httpapi.Server]
}

// events is what services tell one another. startServices has all subscriptions.
type events struct {
	asked   *service.Event[svc.Ref]     // a request came for a version whose runtime does not serve
	rouse   *service.Event[svc.Ref]     // a request came for a version that sleeps
	runtime *service.Event[svc.Runtime] // the state of a runtime changed
}

func newEvents() events {
	return events{asked: service.NewEvent[svc.Ref]("asked"), rouse: service.NewEvent[svc.Ref]("rouse"), runtime: service.NewEvent[svc.Runtime]("runtime")}
}

// Start starts everything in order and returns when the daemon serves. If a step fails,
// Start stops the earlier ones and returns the error. ctx bounds only the start.
func Start(ctx context.Context, c Config) (*Daemon, error) {
	d := &Daemon{cfg: c.Settings, began: time.Now(), watchMode: c.WatchMode, leader: c.Leader, failed: make(chan error, 2), metrics: obs.NewMetrics(buildinfo.Read()), traffic: traffic.New(), events: newEvents()}
	d.recent = obs.NewRecent(d.hidden())
	d.logger = d.recent.Logger(c.Logger)
	c.Logger = d.logger
	for _, step := range []func(context.Context, Config) error{
		d.startDirs, d.startGroups, d.startWorkerd, d.startObjectStore, d.startOwnership, d.startRegistry, d.startCertificates, d.startListeners,
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

// Failed returns a channel with the error of a component that has failed permanently.
func (d *Daemon) Failed() <-chan error { return d.failed }

// Stop stops everything in the reverse order of Start. When ctx ends, running work is
// canceled; no acknowledged write is lost.
func (d *Daemon) Stop(ctx context.Context) error { return d.stops.Stop(ctx) }

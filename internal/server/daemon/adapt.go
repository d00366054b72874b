package daemon

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/edge/routefeed"
	"github.com/svcctl/svcctl/internal/edge/traffic"
	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/server/logs"
	"github.com/svcctl/svcctl/internal/server/tracing"
	"github.com/svcctl/svcctl/internal/server/versions/arming"
	"github.com/svcctl/svcctl/internal/server/versions/calls"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/server/versions/promote"
	"github.com/svcctl/svcctl/internal/server/versions/sleep"
	"github.com/svcctl/svcctl/internal/svc"
)

// The types below adapt one service to the interface of another. They hold no rules.

// toDeploy is deploy for promote, which is created first.
type toDeploy struct{ d *Daemon }

func (t toDeploy) StatusChanged(ref svc.Ref, s svc.Status) { t.d.deploy.Get().StatusChanged(ref, s) }

func (t toDeploy) Revive(ctx context.Context, ref svc.Ref) error {
	return t.d.deploy.Get().Revive(ctx, ref)
}

// Begin implements promote.Deploys.
func (t toDeploy) Begin(ctx context.Context, v svc.Version) (promote.Deploy, error) { //nolint:ireturn // what promote declares
	r, err := t.d.deploy.Get().BeginRelease(ctx, v)
	if r == nil {
		return nil, err
	}
	return r, err
}

func (t toDeploy) FailInterrupted(ctx context.Context, ref svc.Ref) error {
	return t.d.deploy.Get().FailInterrupted(ctx, ref)
}

func (t toDeploy) Exclude(ctx context.Context, ref svc.Ref) (own context.Context, release func(), err error) {
	return t.d.deploy.Get().Exclude(ctx, ref)
}

func (t toDeploy) Migrations(ctx context.Context, ref svc.Ref) (map[string]bool, error) {
	return t.d.deploy.Get().Migrations(ctx, ref)
}

func (t toDeploy) Awake(ctx context.Context, ref svc.Ref) error {
	return t.d.deploy.Get().Awake(ctx, ref)
}

func (t toDeploy) Retire(ctx context.Context, ref svc.Ref, now bool) (busy bool, err error) {
	return t.d.deploy.Get().Retire(ctx, ref, now)
}

func (t toDeploy) Reopen(ctx context.Context, ref svc.Ref) error {
	return t.d.deploy.Get().Reopen(ctx, ref)
}

func (t toDeploy) Archive(ctx context.Context, ref svc.Ref) error {
	_, err := t.d.lifecycle.Get().Archive(ctx, ref)
	return err
}

// checked is the API's health checks for the janitor, which is created first.
type checked struct{ d *Daemon }

func (h checked) Health(ctx context.Context) (status, detail string) {
	return h.d.api.Get().Health(ctx)
}

// newCalls returns what listens for the calls of workers to others, through the gateway.
func (d *Daemon) newCalls() func(context.Context, svc.RuntimeSpec, string, int) (io.Closer, error) {
	service := calls.New(calls.Config{
		Logger: d.logger, Done: d.metrics.CallDone,
		Connect: func(ctx context.Context, project, version string) (net.Conn, error) {
			return d.gateway.Call(ctx, project, version)
		},
	})
	return func(ctx context.Context, s svc.RuntimeSpec, runDir string, host int) (io.Closer, error) {
		return service.Listen(ctx, s.Ref, s.Local.BundleDir, runDir, host)
	}
}

// verbs is lifecycle for preview, which is created first.
type verbs struct{ d *Daemon }

func (v verbs) Archive(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	return v.d.lifecycle.Get().Archive(ctx, ref)
}

func (v verbs) Destroy(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	return v.d.lifecycle.Get().Destroy(ctx, ref)
}

// runtimes implements httpapi.Runtimes with sleep, which knows the runtimes of all versions,
// and deploy.
type runtimes struct {
	*sleep.Service
	deploy *deploy.Service
}

func (r runtimes) NotServing() []svc.Ref { return r.deploy.NotServing() }

// lifecycleRoutes implements lifecycle.Routes with deploy and the gateway.
type lifecycleRoutes struct {
	*deploy.Service
	gateway *gateway.Gateway
}

func (r lifecycleRoutes) DrainVersion(ctx context.Context, ref svc.Ref) error {
	return r.gateway.DrainVersion(ctx, ref)
}

// usage implements lifecycle.Usage.
type usage struct {
	*gateway.Gateway
	*sleep.Service
}

// routing is the gateway for deploy and promote. It also reports their changes to
// arming, because they may change which versions are armed.
type routing struct {
	*gateway.Gateway
	table   routefeed.Gateway // for changes of routes
	arming  *arming.Service
	log     *logs.Recorder
	traffic *traffic.Recorder
	ctx     context.Context //nolint:containedctx // for its values; the calls have no context
}

func (r routing) RemoveVersion(ref svc.Ref) {
	r.table.RemoveVersion(ref)
	r.log.Forget(ref)
	r.traffic.Forget(ref)
}

func (r routing) SetVersion(ref svc.Ref, u svc.Upstream) {
	r.table.SetVersion(ref, u)
	r.arming.VersionChanged(r.ctx, ref, u)
}

func (r routing) SetProduction(project, version string) {
	r.table.SetProduction(project, version)
	r.arming.ProductionChanged(r.ctx, project)
}

func (r routing) Hold(project string)    { r.table.Hold(project) }
func (r routing) Release(project string) { r.table.Release(project) }

func (r routing) CloseWebsockets(ref svc.Ref, role svc.Role, after time.Duration) {
	r.table.CloseWebsockets(ref, role, after)
}

// readOnlyChanged applies that a project has become read-only or writable: to requests first.
func (d *Daemon) readOnlyChanged(ctx context.Context, project string) error {
	if err := d.deploy.Get().ReadOnlyChanged(ctx, project); err != nil {
		return err
	}
	if err := d.routing.arming.ReadOnlyChanged(ctx, project); err != nil {
		return svc.Errorf(svc.Unavailable, svc.CodeRuntimeUnavailable, "project %s was changed, and the runtime of a version does not know it yet", project).
			WithHint("send the request again").Because(err)
	}
	return nil
}

// Routes joins the routes of the gateway with the runtimes of the supervisor [D30].
func (d *Daemon) Routes() []svc.Route {
	alive := map[svc.Ref]svc.Runtime{}
	for _, r := range d.supervisor.Measured() {
		alive[r.Ref] = r
	}
	for _, r := range d.deploy.Get().AllAsleep() {
		alive[r.Ref] = r
	}
	routes := d.gateway.Routes()
	for i := range routes {
		routes[i].Runtime = alive[routes[i].Ref]
	}
	return routes
}

// observer implements gateway.Observer: each request is counted and logged.
type observer struct {
	*obs.Metrics
	log     *logs.Recorder
	traffic *traffic.Recorder
	tracer  *tracing.Tracer // nil without traces
}

func (m observer) ObserveRequest(o gateway.Observation) {
	m.GatewayRequest(string(o.Role), o.Status, o.Duration)
	trace(m.tracer, o)
	if o.Ref == (svc.Ref{}) {
		return
	}
	m.ProjectRequest(o.Ref.Project, o.Status, o.Threw)
	m.traffic.Observe(o.Ref, traffic.Request{Status: o.Status, Duration: o.Duration, Bytes: o.Bytes, Threw: o.Threw})
	i := o.Invocation()
	m.log.Record(o.Ref, &svc.LogLine{
		Time: o.Start.Add(o.Duration), Level: i.Level(), Source: svc.LogRequest, RequestID: string(o.ID), Invocation: &i,
	})
}

// ObserveWebsocket does nothing: the number of open websockets is read at each scrape.
func (observer) ObserveWebsocket(svc.Ref, svc.Role, int) {}

package daemon

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/deploy"
	"github.com/svcctl/svcctl/internal/gateway"
	"github.com/svcctl/svcctl/internal/httpapi"
	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/promote"
	"github.com/svcctl/svcctl/internal/registry"
	"github.com/svcctl/svcctl/internal/runtime"
	"github.com/svcctl/svcctl/internal/supervisor"
	"github.com/svcctl/svcctl/internal/svc"
)

// The types below give one part the shape another part asks for. They hold no
// rules.

// submissions is the registry as deploy wants it.
type submissions struct{ *registry.DB }

func (s submissions) CreateVersion(ctx context.Context, n svc.NewVersion, o deploy.CreateOptions) (svc.Version, bool, error) {
	return s.DB.CreateVersion(ctx, n, registry.CreateOptions(o))
}

// runtimes is the supervisor as deploy wants it.
type runtimes struct{ *supervisor.Supervisor }

func (r runtimes) Open(ctx context.Context, spec deploy.RuntimeSpec) error {
	return r.Supervisor.Open(ctx, supervisor.Spec{
		Ref: spec.Ref, BundleDir: spec.BundleDir, DataDir: spec.DataDir, LogDir: spec.LogDir,
		Env: spec.Env, CreatedAt: spec.CreatedAt, Tag: spec.Tag, Parent: spec.Parent, Warm: spec.Warm, Scrub: spec.Scrub,
	})
}

func (r runtimes) Prepare(ctx context.Context, ref svc.Ref) (deploy.Prepared, error) {
	p, err := r.Supervisor.Prepare(ctx, ref)
	return deploy.Prepared(p), err
}

func (r runtimes) Serve(ctx context.Context, ref svc.Ref) (deploy.Endpoint, error) {
	e, err := r.Supervisor.Serve(ctx, ref)
	return deploy.Endpoint(e), err
}

// routing is the gateway as deploy wants it.
type routing struct{ *gateway.Gateway }

func (r routing) SetVersion(ref svc.Ref, route deploy.Route) {
	r.Gateway.SetVersion(ref, gateway.VersionState{
		Status: route.Status, Starting: route.Starting,
		Socket: route.Socket, Port: route.Port, PID: route.PID, StartedAt: route.StartedAt,
	})
}

// statusChanged lets promote tell deploy, which is made after it.
type statusChanged struct{ d *Daemon }

func (c statusChanged) StatusChanged(ref svc.Ref, s svc.Status) { c.d.deploy.StatusChanged(ref, s) }

// lifecycleRoutes is what lifecycle tells about versions: to deploy, which
// publishes routes, and to the gateway.
type lifecycleRoutes struct {
	*deploy.Service
	gateway *gateway.Gateway
}

func (r lifecycleRoutes) DrainVersion(ctx context.Context, ref svc.Ref) error {
	return r.gateway.DrainVersion(ctx, ref)
}

// deployer and promoter are the services as the API wants them.
type deployer struct{ *deploy.Service }

func (s deployer) Submit(ctx context.Context, n svc.NewVersion, o httpapi.SubmitOptions) (svc.Version, error) {
	return s.Service.Submit(ctx, n, deploy.SubmitOptions(o))
}

type promoter struct{ *promote.Service }

func (s promoter) Promote(ctx context.Context, ref svc.Ref, r httpapi.PromoteRequest) (svc.Promotion, error) {
	return s.Service.Promote(ctx, ref, promote.Request(r))
}

// logs are the files that the hosts write.
type logs struct{ dir layout }

func (l logs) Tail(_ context.Context, ref svc.Ref, n int) ([]httpapi.LogLine, error) {
	lines, err := runtime.TailLogs(l.dir.versionLogs(ref), n)
	if err != nil {
		return nil, err
	}
	out := make([]httpapi.LogLine, len(lines))
	for i, line := range lines {
		out[i] = httpapi.LogLine{Time: line.Time, Level: line.Level, Message: line.Message, Source: line.Source}
	}
	return out, nil
}

// Routes joins the gateway's table with the supervisor's view of the processes [D30].
func (d *Daemon) Routes() []httpapi.Route {
	alive := map[svc.Ref]supervisor.Runtime{}
	for _, r := range d.supervisor.Runtimes() {
		alive[r.Ref] = r
	}
	var routes []httpapi.Route
	for _, g := range d.gateway.Routes() {
		r := alive[g.Ref]
		state := string(r.State)
		if state == "" {
			state = string(g.State.Status)
		}
		routes = append(routes, httpapi.Route{
			Host: g.Host, Role: g.Role, Ref: g.Ref, Upstream: upstream(r), State: state,
			PID: r.Endpoint.PID, Inflight: int64(g.Inflight), Websockets: int64(g.Websockets),
			StartedAt: r.Endpoint.StartedAt, LastRequestAt: g.LastRequestAt, RSSBytes: r.RSSBytes,
		})
	}
	return routes
}

// deployMetrics and gatewayMetrics count what the services observe.
type deployMetrics struct{ *obs.Metrics }

func (m deployMetrics) StepDone(step string, seconds float64) {
	m.DeployStep(step, time.Duration(seconds*float64(time.Second)))
}

func (m deployMetrics) StepTolerated(step string) { m.DeployLenient(step) }

type promoteMetrics struct{ *obs.Metrics }

func (m promoteMetrics) PromoteDone(result string, seconds float64) {
	m.Metrics.PromoteDone(result, time.Duration(seconds*float64(time.Second)))
}

type lifecycleMetrics struct{ *obs.Metrics }

func (m lifecycleMetrics) WakeDone(seconds float64) {
	m.Metrics.WakeDone(time.Duration(seconds * float64(time.Second)))
}

type gatewayMetrics struct{ *obs.Metrics }

func (m gatewayMetrics) ObserveRequest(o gateway.Observation) {
	m.GatewayRequest(string(o.Role), o.Status, o.Duration)
}

// ObserveWebsocket has nothing to count: the number open is read from the routes.
func (gatewayMetrics) ObserveWebsocket(svc.Ref, svc.Role, int) {}

package httpapi

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// checkTime is the time limit of the health checks.
const checkTime = 3 * time.Second

// GetHealth answers GET /health, without any I/O [D29].
func (h handlers) GetHealth(context.Context, oas.GetHealthRequestObject) (oas.GetHealthResponseObject, error) {
	return oas.GetHealth200JSONResponse{
		Status: api.HealthStatusOK, Version: h.Version, UptimeSeconds: round(time.Since(h.started).Seconds()),
	}, nil
}

// GetDeepHealth answers GET /health/deep [D29]. The operation is public, so the
// response does not contain the error of a failed check; the log does.
func (h handlers) GetDeepHealth(ctx context.Context, _ oas.GetDeepHealthRequestObject) (oas.GetDeepHealthResponseObject, error) {
	out, failed := h.deepHealth(ctx)
	if !failed { // not for versions: a visitor can crash one, and must not take the server out of a load balancer
		return oas.GetDeepHealth200JSONResponse(out), nil
	}
	return oas.GetDeepHealth503JSONResponse{Body: out, Headers: oas.GetDeepHealth503ResponseHeaders{
		RetryAfter: int(defaultRetry.Seconds()),
	}}, nil
}

// Health checks the health like GET /health/deep: ok, degraded or unavailable, and which
// checks are not ok.
func (s *Server) Health(ctx context.Context) (status, detail string) {
	out, _ := handlers{s}.deepHealth(ctx)
	tokens := out.Checks.Tokens
	var failed []string
	for _, part := range []struct {
		name   string
		status api.CheckStatus
		detail string
	}{
		{"registry", out.Checks.Registry.Status, out.Checks.Registry.Detail},
		{"store", out.Checks.Store.Status, out.Checks.Store.Detail},
		{"queue", out.Checks.Queue.Status, out.Checks.Queue.Detail},
		{"versions", out.Checks.Versions.Status, out.Checks.Versions.Detail},
		{"tokens", cmp.Or(tokens.Status, api.CheckStatusOK), tokens.Detail},
	} {
		if part.status != api.CheckStatusOK {
			failed = append(failed, part.name+": "+part.detail)
		}
	}
	return string(out.Status), strings.Join(failed, "; ")
}

// deepHealth runs all checks. failed says that the server, not only a version, is not ok.
func (h handlers) deepHealth(ctx context.Context) (out api.DeepHealth, failed bool) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	out.Status = api.CheckStatusOK
	var parts sync.WaitGroup
	parts.Go(func() { out.Checks.Registry = h.checkPart(ctx, "registry", h.Registry) })
	parts.Go(func() { out.Checks.Store = h.checkPart(ctx, "store", h.Store) })
	parts.Go(func() { out.Checks.Queue = h.checkQueue(ctx) })
	out.Checks.Versions, out.Checks.Tokens = h.checkVersions(), h.checkTokens()
	parts.Wait()

	queue := &out.Checks.Queue
	for _, s := range []api.CheckStatus{queue.Status, out.Checks.Registry.Status, out.Checks.Store.Status} {
		if s == api.CheckStatusUnavailable || out.Status == api.CheckStatusOK {
			out.Status = s
		}
	}
	failed = out.Status != api.CheckStatusOK
	if !failed {
		out.Status = out.Checks.Versions.Status
	}
	if out.Status == api.CheckStatusOK {
		out.Status = cmp.Or(out.Checks.Tokens.Status, out.Status)
	}
	if queue.Status == api.CheckStatusDegraded { // spec: [C11.5]
		out.Code, out.QueueFull, out.PendingJobs, out.QueueMax = svc.CodeQueueFull, true, &queue.PendingJobs, &queue.QueueMax
	}
	return out, failed
}

func (h handlers) checkPart(ctx context.Context, name string, part Pinger) api.PartHealth {
	began := time.Now()
	err := part.Ping(ctx)
	out := api.PartHealth{Status: api.CheckStatusOK, LatencyMs: round(float64(time.Since(began).Microseconds()) / 1000)}
	if err != nil {
		h.logFailedCheck(ctx, name, err)
		out.Status, out.Detail = api.CheckStatusUnavailable, "no answer"
		if errors.Is(err, syscall.ENOSPC) {
			out.Detail = "disk full"
		}
	}
	return out
}

// checkTokens checks SVC_TOKENS_FILE; without one it returns the zero value. The operation is public: why the file cannot be
// read is for the log and svcctl doctor.
func (h handlers) checkTokens() (out api.TokensHealth) {
	if h.Tokens.Trouble == nil {
		return out
	}
	if h.Tokens.Trouble() != nil {
		return api.TokensHealth{Status: api.CheckStatusDegraded, Detail: "SVC_TOKENS_FILE cannot be read"}
	}
	return api.TokensHealth{Status: api.CheckStatusOK}
}

func (h handlers) checkQueue(ctx context.Context) api.QueueHealth {
	out := api.QueueHealth{Status: api.CheckStatusOK, QueueMax: h.QueueMax}
	var err error
	if out.PendingJobs, err = h.Queue.QueueDepth(ctx); err != nil {
		h.logFailedCheck(ctx, "queue", err)
		out.Status, out.Detail = api.CheckStatusUnavailable, "no answer"
	} else if out.PendingJobs >= h.QueueMax {
		out.Status, out.Detail = api.CheckStatusDegraded, "queue full"
	}
	return out
}

// maxNotServing is the maximum number of versions that a health check names.
const maxNotServing = 100

func (h handlers) checkVersions() api.VersionsHealth {
	refs := h.Runtimes.NotServing()
	out := api.VersionsHealth{Status: api.CheckStatusOK, NotServing: each(refs[:min(len(refs), maxNotServing)], svc.Ref.String)}
	if len(refs) > 0 {
		out.Status, out.Detail = api.CheckStatusDegraded, strconv.Itoa(len(refs))+" ready versions do not serve"
	}
	return out
}

func (h handlers) logFailedCheck(ctx context.Context, check string, err error) {
	h.Logger.WarnContext(ctx, "health check failed", "request_id", exchangeOf(ctx).id, "check", check, "error", err)
}

// round returns f with three decimals.
func round(f float64) float64 { return math.Round(f*1000) / 1000 }

// ListRoutes answers GET /runtime/routes [D30]. All routes are on one page.
func (h handlers) ListRoutes(ctx context.Context, r oas.ListRoutesRequestObject) (oas.ListRoutesResponseObject, error) {
	routes := h.Routes.Routes()
	if project := r.Params.Project; project != nil {
		routes = slices.DeleteFunc(slices.Clone(routes), func(r svc.Route) bool { return r.Ref.Project != *project })
	}
	items := each(routes, routeOut)
	if exchangeOf(ctx).role != roleAdmin {
		for i := range items {
			items[i].UpstreamKey = "" // with it, requests pass the gateway by
		}
	}
	return oas.ListRoutes200JSONResponse{Items: items}, nil
}

func routeOut(r svc.Route) api.Route {
	role := api.RouteRolePreview
	if r.Role == svc.RoleProduction {
		role = api.RouteRoleProduction
	}
	upstream, at := "", r.Runtime.Endpoint
	if at.Port != 0 {
		upstream = "127.0.0.1:" + strconv.Itoa(at.Port)
	}
	return api.Route{
		Host: r.Host, Role: role, ProjectID: r.Ref.Project, VersionID: r.Ref.Version, Upstream: upstream, UpstreamKey: at.PortKey,
		State: cmp.Or(string(r.Runtime.State), string(r.Upstream.Status)),
		PID:   at.PID, Inflight: int64(r.Inflight), Websockets: int64(r.Websockets), RSSBytes: r.Runtime.RSSBytes,
		StartedAt: api.MaybeAt(at.StartedAt), LastRequestAt: api.MaybeAt(r.LastRequestAt), Runtime: runtimeOut(r.Runtime),
	}
}

// runtimeOut returns nil for a runtime without a state.
func runtimeOut(r svc.Runtime) *api.Runtime {
	if r.State == "" {
		return nil
	}
	return &api.Runtime{
		State: api.RuntimeState(r.State), Since: api.MaybeAt(r.Since), Restarts: r.Restarts, LastError: r.LastError, RetryAt: api.MaybeAt(r.RetryAt), WakeAt: api.MaybeAt(r.WakeAt),
		Node: r.Endpoint.Node, ClusterNode: r.Endpoint.ClusterNode,
	}
}

// GetOpenAPI answers GET /openapi.json.
func (handlers) GetOpenAPI(context.Context, oas.GetOpenAPIRequestObject) (oas.GetOpenAPIResponseObject, error) {
	return openAPIDocument(api.OpenAPI()), nil
}

// openAPIDocument is a response in JSON.
type openAPIDocument []byte

// VisitGetOpenAPIResponse implements oas.GetOpenAPIResponseObject.
func (d openAPIDocument) VisitGetOpenAPIResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(d)
	return err
}

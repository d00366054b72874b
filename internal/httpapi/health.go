package httpapi

import (
	"context"
	"errors"
	"math"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// checkTime is how long a part may take to say that it is well.
const checkTime = 3 * time.Second

// GetHealth answers GET /health, without any I/O [D29].
func (h handlers) GetHealth(context.Context, oas.GetHealthRequestObject) (oas.GetHealthResponseObject, error) {
	return oas.GetHealth200JSONResponse{
		Status: api.HealthStatusOK, Version: h.Version, UptimeSeconds: round(time.Since(h.started).Seconds()),
	}, nil
}

// GetDeepHealth answers GET /health/deep [D29]. Anybody may ask, so it does not
// say why a part is away: the log does.
func (h handlers) GetDeepHealth(ctx context.Context, _ oas.GetDeepHealthRequestObject) (oas.GetDeepHealthResponseObject, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	out := api.DeepHealth{Status: api.CheckStatusOK}
	var parts sync.WaitGroup
	parts.Go(func() { out.Checks.Registry = h.checkPart(ctx, "registry", h.Registry) })
	parts.Go(func() { out.Checks.Store = h.checkPart(ctx, "store", h.Store) })
	parts.Go(func() { out.Checks.Queue = h.checkQueue(ctx) })
	parts.Wait()

	queue := &out.Checks.Queue
	for _, s := range []api.CheckStatus{queue.Status, out.Checks.Registry.Status, out.Checks.Store.Status} {
		if s == api.CheckStatusUnavailable || out.Status == api.CheckStatusOK {
			out.Status = s
		}
	}
	if queue.Status == api.CheckStatusDegraded { // spec: Errors, deep health while overloaded
		out.Code, out.QueueFull, out.PendingJobs, out.QueueMax = "queue_full", true, &queue.PendingJobs, &queue.QueueMax
	}
	if out.Status == api.CheckStatusOK {
		return oas.GetDeepHealth200JSONResponse(out), nil
	}
	return oas.GetDeepHealth503JSONResponse{Body: out, Headers: oas.GetDeepHealth503ResponseHeaders{
		RetryAfter: int(defaultRetry.Seconds()),
	}}, nil
}

func (h handlers) checkPart(ctx context.Context, name string, part Pinger) api.PartHealth {
	begun := time.Now()
	err := part.Ping(ctx)
	out := api.PartHealth{Status: api.CheckStatusOK, LatencyMs: round(float64(time.Since(begun).Microseconds()) / 1000)}
	if err != nil {
		h.logUnwell(ctx, name, err)
		out.Status, out.Detail = api.CheckStatusUnavailable, "it does not answer"
		if errors.Is(err, syscall.ENOSPC) {
			out.Detail = "its disk is full"
		}
	}
	return out
}

func (h handlers) checkQueue(ctx context.Context) api.QueueHealth {
	out := api.QueueHealth{Status: api.CheckStatusOK, QueueMax: h.QueueMax}
	var err error
	if out.PendingJobs, err = h.Queue.QueueDepth(ctx); err != nil {
		h.logUnwell(ctx, "queue", err)
		out.Status, out.Detail = api.CheckStatusUnavailable, "it does not answer"
	} else if out.PendingJobs >= h.QueueMax {
		out.Status, out.Detail = api.CheckStatusDegraded, "it is full"
	}
	return out
}

func (h handlers) logUnwell(ctx context.Context, part string, err error) {
	h.Logger.WarnContext(ctx, "a part is not well", "request_id", exchangeOf(ctx).id, "part", part, "error", err)
}

// round keeps three decimals.
func round(f float64) float64 { return math.Round(f*1000) / 1000 }

// ListRoutes answers GET /runtime/routes [D30]. All routes are on one page.
func (h handlers) ListRoutes(context.Context, oas.ListRoutesRequestObject) (oas.ListRoutesResponseObject, error) {
	return oas.ListRoutes200JSONResponse{Items: each(h.Routes.Routes(), routeOut)}, nil
}

func routeOut(r Route) api.Route {
	role := api.RouteRolePreview
	if r.Role == svc.RoleProduction {
		role = api.RouteRoleProduction
	}
	return api.Route{
		Host: r.Host, Role: role, ProjectID: r.Ref.Project, VersionID: r.Ref.Version, Upstream: r.Upstream, State: r.State,
		PID: r.PID, Inflight: r.Inflight, Websockets: r.Websockets, RSSBytes: r.RSSBytes,
		StartedAt: api.MaybeAt(r.StartedAt), LastRequestAt: api.MaybeAt(r.LastRequestAt),
	}
}

// GetOpenAPI answers GET /openapi.json.
func (handlers) GetOpenAPI(context.Context, oas.GetOpenAPIRequestObject) (oas.GetOpenAPIResponseObject, error) {
	return openAPIDocument(api.OpenAPI()), nil
}

// openAPIDocument is an answer that is JSON already.
type openAPIDocument []byte

// VisitGetOpenAPIResponse implements oas.GetOpenAPIResponseObject.
func (d openAPIDocument) VisitGetOpenAPIResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(d)
	return err
}

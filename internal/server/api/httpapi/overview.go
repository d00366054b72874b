package httpapi

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// searchParameters are the parameters of the versions of all projects.
//
//nolint:gochecknoglobals // a constant list
var searchParameters = []string{"limit", "cursor", "project", "status", "ref", "parent", "pinned", "since", "label", "q"}

const (
	defaultWindow = 5 * time.Minute
	maxWindow     = 9*time.Minute + 55*time.Second
)

// GetServer answers GET /server.
func (h handlers) GetServer(ctx context.Context, _ oas.GetServerRequestObject) (oas.GetServerResponseObject, error) {
	state, err := h.serverState(ctx)
	if err != nil {
		return nil, err
	}
	return oas.GetServer200JSONResponse{
		Version: h.Version, StartedAt: api.At(h.started), APIURL: exchangeOf(ctx).origin, GatewayURL: h.GatewayURL,
		BaseDomain: h.Ingress.BaseDomain(), PreviewURLTemplate: h.Ingress.HostPattern(), QueueMax: h.QueueMax, MaxUploadBytes: h.MaxUpload,
		Settings: each(h.Settings, func(s svc.SettingValue) api.Setting {
			if s.Secret && s.Source != "default" {
				s.Value = "(hidden)"
			}
			return api.Setting{Name: s.Name, Value: s.Value, Source: api.SettingSource(s.Source)}
		}),
		State: state, Tokens: each(h.auth.list(), func(t svc.Token) api.ServerToken {
			out := api.ServerToken{Name: t.Name, Role: api.ServerTokenRole(t.Role), Fingerprint: fingerprint(t.Hash)}
			if !t.Expires.IsZero() {
				out.ExpiresAt = api.At(t.Expires)
			}
			return out
		}),
	}, nil
}

// ListCertificates answers GET /certificates.
func (h handlers) ListCertificates(ctx context.Context, _ oas.ListCertificatesRequestObject) (oas.ListCertificatesResponseObject, error) {
	list, err := h.Certificates.Certificates(ctx)
	if err != nil {
		return nil, err
	}
	orders := each(h.Certificates.CertificateOrders(), func(o svc.CertificateOrder) api.CertificateOrder {
		out := api.CertificateOrder{Host: o.Host, State: api.CertificateOrderState(o.State), Failures: o.Failures, Error: o.Error}
		if !o.RetryAt.IsZero() {
			out.RetryAt = api.At(o.RetryAt)
		}
		return out
	})
	return oas.ListCertificates200JSONResponse{Orders: orders, Items: each(list, func(c svc.Certificate) api.Certificate {
		return api.Certificate{Names: append([]string{}, c.Names...), Issuer: c.Issuer, NotAfter: api.At(c.NotAfter), File: c.File, Error: c.Error}
	})}, nil
}

// ListNodes answers GET /nodes.
func (h handlers) ListNodes(context.Context, oas.ListNodesRequestObject) (oas.ListNodesResponseObject, error) {
	return oas.ListNodes200JSONResponse{Items: each(h.Machines.Machines(), func(n svc.Node) api.Node {
		return api.Node{
			Name: n.Name, ID: n.ID, Node: n.Node, Spares: n.Spares, Versions: each(n.Versions, svc.Ref.String), RSSBytes: n.RSSBytes, AnsweredAt: api.At(n.AnsweredAt),
		}
	})}, nil
}

// GetCheckup answers GET /admin/checkup.
func (h handlers) GetCheckup(ctx context.Context, _ oas.GetCheckupRequestObject) (oas.GetCheckupResponseObject, error) {
	list, err := h.Checkup.Run(ctx)
	if err != nil {
		return nil, err
	}
	return oas.GetCheckup200JSONResponse{Items: each(list, func(f svc.Finding) api.Finding {
		return api.Finding{Check: f.Check, Status: api.FindingStatus(f.Status), Detail: f.Detail, Advice: f.Advice}
	})}, nil
}

func (h handlers) serverState(ctx context.Context) (api.ServerState, error) {
	s, err := h.State.State(ctx)
	return api.ServerState{
		DataDir: s.DataDir, DiskTotalBytes: s.DiskTotal, DiskFreeBytes: s.DiskFree, ObjectStore: cmp.Or(s.ObjectStore, "embedded"),
		RegistryCopiedAt: api.At(s.RegistryCopiedAt), RegistryBehindSeconds: round(s.RegistryBehind.Seconds()),
		DataBehindSeconds: round(s.DataBehind.Seconds()),
		BackupAt:          api.At(s.BackupAt), BackupTo: s.BackupTo,
		WorkerdVersion: s.WorkerdVersion, WorkerdPath: s.WorkerdPath,
	}, err
}

// GetDeployQueue answers GET /queue.
func (h handlers) GetDeployQueue(ctx context.Context, _ oas.GetDeployQueueRequestObject) (oas.GetDeployQueueResponseObject, error) {
	jobs, err := h.Overview.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	return oas.GetDeployQueue200JSONResponse{Max: h.QueueMax, Items: each(jobs, func(j svc.QueuedJob) api.QueuedDeploy {
		return api.QueuedDeploy{
			ProjectID: j.Ref.Project, VersionID: j.Ref.Version, Status: api.VersionStatus(j.Status), Running: j.Running,
			Position: j.Position, Attempt: j.Attempt, QueuedAt: api.At(j.QueuedAt), RunAt: api.At(j.RunAt),
		}
	})}, nil
}

// GetMetricsSummary answers GET /metrics/summary.
func (h handlers) GetMetricsSummary(_ context.Context, r oas.GetMetricsSummaryRequestObject) (oas.GetMetricsSummaryResponseObject, error) {
	window := defaultWindow
	if r.Params.Window != "" {
		var err error
		if window, err = text.Duration(r.Params.Window); err != nil || window <= 0 || window > maxWindow {
			return nil, svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "the parameter window must be a duration such as 5m, at most 9m55s")
		}
	}
	s := h.Traffic.Summary(window)
	out := oas.GetMetricsSummary200JSONResponse{
		WindowSeconds: s.Window.Seconds(), SampleSeconds: s.Sample.Seconds(), Total: trafficOut(svc.Ref{}, s.Total),
		Projects: []api.Traffic{}, Versions: []api.Traffic{},
	}
	for _, id := range slices.Sorted(maps.Keys(s.Projects)) {
		out.Projects = append(out.Projects, trafficOut(svc.Ref{Project: id}, s.Projects[id]))
	}
	refs := slices.SortedFunc(maps.Keys(s.Versions), func(a, b svc.Ref) int {
		return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Version, b.Version))
	})
	for _, ref := range refs {
		out.Versions = append(out.Versions, trafficOut(ref, s.Versions[ref]))
	}
	return out, nil
}

func trafficOut(ref svc.Ref, t svc.Traffic) api.Traffic {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return api.Traffic{
		ProjectID: ref.Project, VersionID: ref.Version, Requests: t.Requests, Errors: t.Errors, Exceptions: t.Exceptions, Bytes: t.Bytes, P50Ms: ms(t.P50), P95Ms: ms(t.P95),
		Samples: append([]int64{}, t.Samples...), ErrorSamples: append([]int64{}, t.ErrorSamples...),
		P95Samples: each(t.P95Samples, ms),
	}
}

// SearchVersions answers GET /versions.
func (h handlers) SearchVersions(ctx context.Context, r oas.SearchVersionsRequestObject) (oas.SearchVersionsResponseObject, error) {
	p := r.Params
	f := svc.VersionFilter{Project: p.Project, GitRef: p.Ref, ParentID: p.Parent, Pinned: p.Pinned, Text: p.Q}
	pinned := ""
	if p.Pinned != nil {
		pinned = map[bool]string{true: "yes", false: "no"}[*p.Pinned]
	}
	for status := range strings.SplitSeq(p.Status, ",") {
		if status != "" && !svc.Status(status).Valid() {
			return nil, svc.Errorf(svc.BadRequest, svc.CodeInvalidStatus, "unknown status").WithHint("use of %v", svc.Statuses())
		}
		if status != "" {
			f.Statuses = append(f.Statuses, svc.Status(status))
		}
	}
	var err error
	if f.Since, err = sinceOf(p.Since, time.Now()); err != nil {
		return nil, err
	}
	if f.Labels, err = svc.ParseLabels(p.Label); err != nil {
		return nil, err
	}
	scope := scopeOf("search", p.Project, p.Status, p.Ref, p.Parent, pinned, p.Since, p.Label, p.Q)
	at, err := pageOf(scope, p.Limit, p.Cursor)
	if err != nil {
		return nil, err
	}
	page, err := h.Overview.SearchVersions(ctx, f, at)
	if err != nil {
		return nil, err
	}
	origin := exchangeOf(ctx).origin
	return oas.SearchVersions200JSONResponse{
		Items: each(page.Items, func(v svc.Version) api.Version { return h.versionOut(origin, v) }), NextCursor: newCursor(scope, page.Next),
	}, nil
}

// unchanged reports whether the client has the response already, by its ETag.
func unchanged(r *http.Request, header http.Header) bool {
	etag := header.Get("ETag")
	return etag != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) && matches(r.Header.Get("If-None-Match"), etag)
}

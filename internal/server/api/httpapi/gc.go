package httpapi

import (
	"context"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// GC collects garbage in the object store and audits it. A call has a time limit;
// its report is incomplete if the limit was reached.
type GC interface {
	Collect(ctx context.Context, r svc.GCRequest) (svc.GCReport, error)
	// Audit checks one project, or all for "".
	Audit(ctx context.Context, project string) (svc.GCAudit, error)
	// BranchSizes says what the objects of a project's versions are for.
	BranchSizes(ctx context.Context, project string) (svc.BranchSizes, error)
}

// GetGarbage answers GET /admin/gc.
func (h handlers) GetGarbage(ctx context.Context, r oas.GetGarbageRequestObject) (oas.GetGarbageResponseObject, error) {
	report, err := h.GC.Collect(ctx, svc.GCRequest{Project: value(r.Params.Project), DryRun: true})
	if err != nil {
		return nil, err
	}
	return oas.GetGarbage200JSONResponse(garbageOut(report)), nil
}

// CollectGarbage answers POST /admin/gc.
func (h handlers) CollectGarbage(ctx context.Context, r oas.CollectGarbageRequestObject) (oas.CollectGarbageResponseObject, error) {
	report, err := h.GC.Collect(ctx, svc.GCRequest{Project: value(r.Params.Project)})
	if err != nil {
		return nil, err
	}
	return oas.CollectGarbage200JSONResponse(garbageOut(report)), nil
}

// AuditStorage answers POST /admin/gc/audit.
func (h handlers) AuditStorage(ctx context.Context, r oas.AuditStorageRequestObject) (oas.AuditStorageResponseObject, error) {
	a, err := h.GC.Audit(ctx, value(r.Params.Project))
	if err != nil {
		return nil, err
	}
	return oas.AuditStorage200JSONResponse{
		Incomplete: a.Incomplete, StartedAt: api.At(a.StartedAt), Seconds: round(a.Took.Seconds()), Projects: a.Projects,
		Versions: a.Versions, Stores: a.Databases, Files: a.Files, Problems: each(a.Problems, problemOut),
	}, nil
}

func garbageOut(r svc.GCReport) api.GarbageReport {
	out := api.GarbageReport{
		DryRun: r.DryRun, Incomplete: r.Incomplete, StartedAt: api.At(r.StartedAt), Seconds: round(r.Took.Seconds()),
		GraceSeconds: round(r.Grace.Seconds()), LastSweepAt: api.MaybeAt(r.LastSweep), LastAuditAt: api.MaybeAt(r.LastAudit),
		Projects: each(r.Projects, garbageProjectOut),
	}
	var t svc.GCVersion
	for _, p := range r.Projects {
		t.Live, t.Waiting, t.Gone = t.Live.Plus(p.Assets.Live), t.Waiting.Plus(p.Assets.Waiting), t.Gone.Plus(p.Assets.Gone)
		for _, v := range p.Versions {
			t.Live, t.Waiting, t.Gone = t.Live.Plus(v.Live), t.Waiting.Plus(v.Waiting), t.Gone.Plus(v.Gone)
			t.Pinned, t.Other = t.Pinned.Plus(v.Pinned), t.Other.Plus(v.Other)
		}
	}
	to := &out.Total
	to.Live, to.Pinned, to.Waiting, to.Gone, to.Other = amountOut(t.Live), amountOut(t.Pinned), amountOut(t.Waiting), amountOut(t.Gone), amountOut(t.Other)
	return out
}

func garbageProjectOut(p svc.GCProject) api.GarbageProject {
	out := api.GarbageProject{
		ProjectID: p.ID, Versions: each(p.Versions, garbageVersionOut), Broken: each(p.Broken, problemOut),
		Marked: each(p.Marked, same), Removed: each(p.Removed, same),
		Assets: api.GarbageAssets{Live: amountOut(p.Assets.Live), Waiting: amountOut(p.Assets.Waiting), Gone: amountOut(p.Assets.Gone)},
	}
	if p.Err != nil {
		out.Error = svc.AsError(p.Err).Detail // without the cause
	}
	return out
}

func same(s string) string { return s }

// value returns *p, or the zero value if p is nil: an omitted parameter.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func garbageVersionOut(v svc.GCVersion) api.GarbageVersion {
	return api.GarbageVersion{
		VersionID: v.ID, Status: string(v.Status), State: v.Data,
		Live: amountOut(v.Live), Pinned: amountOut(v.Pinned), PinnedBy: each(v.PinnedBy, pinOut),
		Waiting: amountOut(v.Waiting), WaitingSeconds: round(v.Left.Seconds()), Gone: amountOut(v.Gone), Other: amountOut(v.Other),
	}
}

func amountOut(a svc.Amount) api.ObjectAmount {
	return api.ObjectAmount{Objects: a.Objects, Bytes: a.Bytes}
}

func pinOut(p svc.GCPin) api.GarbagePin {
	return api.GarbagePin{VersionID: p.Version, Objects: p.Objects, Bytes: p.Bytes}
}

func problemOut(p svc.StoreProblem) api.StorageProblem {
	return api.StorageProblem{
		Code: p.Code, ProjectID: p.Ref.Project, VersionID: p.Ref.Version, Store: p.Database, Key: p.Key, Objects: p.Count, Detail: p.Detail,
	}
}

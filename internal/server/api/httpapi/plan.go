package httpapi

import (
	"context"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// GetPromotionPlan answers GET .../promotion-plan.
func (h handlers) GetPromotionPlan(ctx context.Context, r oas.GetPromotionPlanRequestObject) (oas.GetPromotionPlanResponseObject, error) {
	p, err := h.Plans.Plan(ctx, svc.Ref{Project: r.Project, Version: r.Version})
	if err != nil {
		return nil, err
	}
	return oas.GetPromotionPlan200JSONResponse{
		ProjectID: p.Project, VersionID: p.Version, Status: api.VersionStatus(p.Status), ProductionVersionID: p.Production,
		Unmerged: unmergedOut(p.Unmerged), Waiting: waitingOut(p.Waiting),
	}, nil
}

// CompareData answers GET /projects/{project}/compare/data.
func (h handlers) CompareData(ctx context.Context, r oas.CompareDataRequestObject) (oas.CompareDataResponseObject, error) {
	from, to := svc.Ref{Project: r.Project, Version: r.Params.From}, svc.Ref{Project: r.Project, Version: r.Params.To}
	ofFrom, ofTo, err := h.Plans.Compare(ctx, from, to)
	if err != nil {
		return nil, err
	}
	return oas.CompareData200JSONResponse{
		From: api.ComparedData{VersionID: from.Version, Written: *unmergedOut(&ofFrom)},
		To:   api.ComparedData{VersionID: to.Version, Written: *unmergedOut(&ofTo)},
	}, nil
}

func waitingOut(w *svc.Waiting) *api.WaitingWork {
	if w == nil {
		return nil
	}
	return &api.WaitingWork{Messages: w.Messages, Instances: w.Instances}
}

func unmergedOut(u *svc.Unmerged) *api.Unmerged {
	if u == nil {
		return nil
	}
	return &api.Unmerged{
		CommonVersionID: u.Common, ForkedAt: api.MaybeAt(u.At), Reason: api.UnmergedReason(u.Reason),
		Tables: each(u.Tables, func(t svc.UnmergedTable) api.UnmergedTable {
			return api.UnmergedTable{Database: t.Database, Table: t.Table, Inserted: t.Inserted, Updated: t.Updated, Deleted: t.Deleted, AtLeast: t.AtLeast}
		}),
		Keys: writtenOut(u.Keys), Objects: writtenOut(u.Objects), Messages: writtenOut(u.Messages), Instances: writtenOut(u.Instances),
	}
}

func writtenOut(w svc.Written) api.WrittenRecords {
	return api.WrittenRecords{Inserted: w.Inserted, Updated: w.Updated, Deleted: w.Deleted, AtLeast: w.AtLeast}
}

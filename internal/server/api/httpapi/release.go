package httpapi

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// ReleaseVersion answers POST .../release.
func (h handlers) ReleaseVersion(ctx context.Context, r oas.ReleaseVersionRequestObject) (oas.ReleaseVersionResponseObject, error) {
	candidate := svc.Ref{Project: r.Project, Version: r.Version}
	req := releaseRequest(r.Body)
	if err := req.Validate(); err != nil {
		return nil, err
	}
	x := exchangeOf(ctx)
	x.changes.reason = req.Reason
	p, err := h.Promoter.Release(ctx, candidate, req)
	if err != nil {
		return nil, err
	}
	x.changes.before = map[string]any{"production": p.Previous}
	x.changes.after = map[string]any{"production": p.Version, "operation_id": p.ID, "candidate": p.Candidate}
	out := api.ReleaseAccepted{
		ProjectID: p.Project, VersionID: p.Version, CandidateVersionID: p.Candidate, PreviousVersionID: p.Previous, OperationID: p.ID,
		Status: api.PromotionStatus(p.Status), ProdURL: h.Ingress.ProdURL(p.Project), PollURL: promotionURL(x.origin, p.Project, p.ID),
	}
	return oas.ReleaseVersion202JSONResponse{Body: out, Headers: oas.ReleaseVersion202ResponseHeaders{Location: out.PollURL}}, nil
}

func releaseRequest(b *api.ReleaseVersion) svc.ReleaseRequest {
	if b == nil {
		return svc.ReleaseRequest{}
	}
	req := svc.ReleaseRequest{
		VersionID: b.VersionID, ExpectedProd: b.ExpectedProdVersionID, Reason: b.Reason, GitRef: b.GitRef,
		MaxHold: time.Duration(b.MaxHoldMs) * time.Millisecond, LateRequests: svc.LateRequests(b.LateRequests), Check: b.Check,
		InterruptEvents: b.InterruptEvents, LeaveInstances: b.LeaveInstances, Rollback: b.Rollback, Force: b.Force,
	}
	if b.Watch != nil {
		req.Watch = svc.ReleaseWatch{For: time.Duration(b.Watch.Seconds) * time.Second, AbortOn: b.Watch.AbortOn}
	}
	return req
}

// GetReleasePlan answers GET .../release-plan.
func (h handlers) GetReleasePlan(ctx context.Context, r oas.GetReleasePlanRequestObject) (oas.GetReleasePlanResponseObject, error) {
	p, err := h.Plans.ReleasePlan(ctx, svc.Ref{Project: r.Project, Version: r.Version})
	if err != nil {
		return nil, err
	}
	return oas.GetReleasePlan200JSONResponse{
		ProjectID: p.Project, VersionID: p.Candidate, Status: api.VersionStatus(p.Status), ProductionVersionID: p.Production,
		ExpectedHoldMs: millisOf(p.Expected), MaxHoldMs: millisOf(p.Limit), Migrations: each(p.Migrations, func(m string) string { return m }),
		Own: *unmergedOut(&p.Own), Waiting: *waitingOut(&p.Waiting), Blocked: p.Blocked,
	}, nil
}

func millisOf(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// holdStepsOut are the steps of a hold.
func holdStepsOut(steps []svc.HoldStep) []api.HoldStep {
	return each(steps, func(s svc.HoldStep) api.HoldStep { return api.HoldStep{Step: s.Step, Ms: millisOf(s.Took)} })
}

// watchOut is the watch of a release that is done; nil without one.
func watchOut(w svc.Watch) *api.PromotionWatch {
	if w.State == "" {
		return nil
	}
	return &api.PromotionWatch{Until: api.At(w.Until), AbortOn: w.AbortOn, State: api.PromotionWatchState(w.State), Detail: w.Detail, OperationID: w.Operation}
}

// eventsOut is the mode of a version's events.
func eventsOut(v svc.Version) api.VersionEvents {
	switch {
	case v.RunsEvents():
		return api.VersionEventsOn
	case v.Events == svc.EventsHandedOver:
		return api.VersionEventsHandedOver
	}
	return api.VersionEventsOff
}

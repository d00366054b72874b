package httpapi

import (
	"context"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// PromoteVersion answers POST .../promote [D19].
func (h handlers) PromoteVersion(ctx context.Context, r oas.PromoteVersionRequestObject) (oas.PromoteVersionResponseObject, error) {
	ref := svc.Ref{Project: r.Project, Version: r.Version}
	var req svc.PromoteRequest
	if r.Body != nil {
		req = svc.PromoteRequest{ExpectedProd: r.Body.ExpectedProdVersionID, Reason: r.Body.Reason, LeaveWrites: r.Body.LeaveWrites}
	}
	if r.Params.IfMatch != nil {
		if err := h.guardPromote(ctx, ref, *r.Params.IfMatch, &req); err != nil {
			return nil, err
		}
	}
	x := exchangeOf(ctx)
	x.changes.reason = req.Reason
	p, err := h.Promoter.Promote(ctx, ref, req)
	if err != nil {
		return nil, err
	}
	x.changes.before = map[string]any{"production": p.Previous}
	x.changes.after = map[string]any{"production": p.Version, "operation_id": p.ID}
	origin := exchangeOf(ctx).origin
	out := api.PromotionAccepted{
		ProjectID: p.Project, VersionID: p.Version, PreviousVersionID: p.Previous, OperationID: p.ID,
		Status: api.PromotionStatus(p.Status), ProdURL: h.Ingress.ProdURL(p.Project), PollURL: promotionURL(origin, p.Project, p.ID),
	}
	if p.ID == "" { // nothing ran
		out.PollURL = versionURL(origin, ref)
	}
	return oas.PromoteVersion202JSONResponse{Body: out, Headers: oas.PromoteVersion202ResponseHeaders{Location: out.PollURL}}, nil
}

// guardPromote checks If-Match against the version and its project [D13]. It makes
// the promotion expect the current production, so the check stays valid until the
// promotion's compare-and-set.
func (h handlers) guardPromote(ctx context.Context, ref svc.Ref, ifMatch string, req *svc.PromoteRequest) error {
	p, err := h.Projects.Project(ctx, ref.Project)
	if err != nil {
		return err
	}
	v, err := h.Versions.Version(ctx, ref)
	if err != nil {
		return err
	}
	if !matches(ifMatch, projectTag(p), versionTag(v)) {
		return svc.Errorf(svc.Precondition, svc.CodeETagMismatch, "the version and its project do not match the ETag in If-Match").
			WithHint("read the version again and retry with its current ETag")
	}
	if req.ExpectedProd == nil {
		req.ExpectedProd = &p.ProdVersionID
	}
	return nil
}

// GetPromotion answers GET /projects/{project}/promotions/{operation}.
func (h handlers) GetPromotion(ctx context.Context, r oas.GetPromotionRequestObject) (oas.GetPromotionResponseObject, error) {
	p, err := h.Promotions.Promotion(ctx, r.Project, r.Operation)
	if err != nil {
		return nil, err
	}
	return oas.GetPromotion200JSONResponse(promotionOut(p)), nil
}

// ListPromotions answers GET /projects/{project}/promotions.
func (h handlers) ListPromotions(ctx context.Context, r oas.ListPromotionsRequestObject) (oas.ListPromotionsResponseObject, error) {
	if _, err := h.Projects.Project(ctx, r.Project); err != nil {
		return nil, err
	}
	scope := scopeOf("promotions", r.Project)
	at, err := pageOf(scope, r.Params.Limit, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	page, err := h.Promotions.ListPromotions(ctx, r.Project, at)
	if err != nil {
		return nil, err
	}
	return oas.ListPromotions200JSONResponse{Items: each(page.Items, promotionOut), NextCursor: newCursor(scope, page.Next)}, nil
}

package httpapi

import (
	"cmp"
	"context"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// Webhooks sends events to addresses.
type Webhooks interface {
	Add(ctx context.Context, w svc.Webhook) (added svc.Webhook, secret string, err error)
	List(ctx context.Context, project string) ([]svc.Webhook, error)
	Remove(ctx context.Context, id string) error
	Rotate(ctx context.Context, id string) (w svc.Webhook, secret string, err error)
	Test(ctx context.Context, id string) (svc.WebhookDelivery, error)
	Deliveries(ctx context.Context, id string, p svc.PageRequest) (svc.Page[svc.WebhookDelivery], error)
	Replay(ctx context.Context, webhook, id string) (svc.WebhookDelivery, error)
}

// ListWebhooks answers GET /webhooks.
func (h handlers) ListWebhooks(ctx context.Context, r oas.ListWebhooksRequestObject) (oas.ListWebhooksResponseObject, error) {
	all, err := h.Webhooks.List(ctx, value(r.Params.Project))
	if err != nil {
		return nil, err
	}
	return oas.ListWebhooks200JSONResponse{Items: each(all, webhookOut)}, nil
}

// CreateWebhook answers POST /webhooks.
func (h handlers) CreateWebhook(ctx context.Context, r oas.CreateWebhookRequestObject) (oas.CreateWebhookResponseObject, error) {
	x := exchangeOf(ctx)
	w := svc.Webhook{
		Project: r.Body.ProjectID, URL: r.Body.URL, Events: r.Body.Events, Format: cmp.Or(svc.WebhookFormat(r.Body.Format), svc.WebhookStandard),
		CreatedBy: cmp.Or(x.changes.by, x.actor.Token),
	}
	x.changes.ref.Project = w.Project
	added, secret, err := h.Webhooks.Add(ctx, w)
	if err != nil {
		return nil, err
	}
	x.changes.after = map[string]any{"webhook": added.ID, "events": added.Events}
	return oas.CreateWebhook201JSONResponse{Webhook: webhookOut(added), Secret: secret}, nil
}

// DeleteWebhook answers DELETE /webhooks/{webhook}.
func (h handlers) DeleteWebhook(ctx context.Context, r oas.DeleteWebhookRequestObject) (oas.DeleteWebhookResponseObject, error) {
	exchangeOf(ctx).changes.before = map[string]any{"webhook": r.Webhook}
	if err := h.Webhooks.Remove(ctx, r.Webhook); err != nil {
		return nil, err
	}
	return oas.DeleteWebhook204Response{}, nil
}

// TestWebhook answers POST /webhooks/{webhook}/test.
func (h handlers) TestWebhook(ctx context.Context, r oas.TestWebhookRequestObject) (oas.TestWebhookResponseObject, error) {
	d, err := h.Webhooks.Test(ctx, r.Webhook)
	if err != nil {
		return nil, err
	}
	return oas.TestWebhook200JSONResponse(deliveryOut(d)), nil
}

// RotateWebhook answers POST /webhooks/{webhook}/rotate.
func (h handlers) RotateWebhook(ctx context.Context, r oas.RotateWebhookRequestObject) (oas.RotateWebhookResponseObject, error) {
	exchangeOf(ctx).changes.after = map[string]any{"webhook": r.Webhook}
	w, secret, err := h.Webhooks.Rotate(ctx, r.Webhook)
	if err != nil {
		return nil, err
	}
	return oas.RotateWebhook200JSONResponse{Webhook: webhookOut(w), Secret: secret}, nil
}

// ListDeliveries answers GET /webhooks/{webhook}/deliveries.
func (h handlers) ListDeliveries(ctx context.Context, r oas.ListDeliveriesRequestObject) (oas.ListDeliveriesResponseObject, error) {
	scope := scopeOf("deliveries", r.Webhook)
	at, err := pageOf(scope, r.Params.Limit, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	page, err := h.Webhooks.Deliveries(ctx, r.Webhook, at)
	if err != nil {
		return nil, err
	}
	return oas.ListDeliveries200JSONResponse{Items: each(page.Items, deliveryOut), NextCursor: newCursor(scope, page.Next)}, nil
}

// ReplayDelivery answers POST /webhooks/{webhook}/deliveries/{delivery}/replay.
func (h handlers) ReplayDelivery(ctx context.Context, r oas.ReplayDeliveryRequestObject) (oas.ReplayDeliveryResponseObject, error) {
	exchangeOf(ctx).changes.after = map[string]any{"webhook": r.Webhook, "delivery": r.Delivery}
	d, err := h.Webhooks.Replay(ctx, r.Webhook, r.Delivery)
	if err != nil {
		return nil, err
	}
	return oas.ReplayDelivery200JSONResponse(deliveryOut(d)), nil
}

func webhookOut(w svc.Webhook) api.Webhook {
	return api.Webhook{
		ID: w.ID, ProjectID: w.Project, URL: w.URL, Events: append([]string{}, w.Events...), Format: string(w.Format), CreatedAt: api.At(w.CreatedAt), CreatedBy: w.CreatedBy,
		RotatedAt: api.MaybeAt(w.RotatedAt), EndedAt: api.MaybeAt(w.EndedAt),
	}
}

func deliveryOut(d svc.WebhookDelivery) api.WebhookDelivery {
	state := "failed"
	switch {
	case d.Delivered:
		state = "delivered"
	case !d.NextAt.IsZero():
		state = "waiting"
	}
	return api.WebhookDelivery{
		ID: d.ID, Type: d.Type, State: state, Body: d.Body, Attempts: d.Attempts, Status: d.Status, Answer: d.Answer, Error: d.Error,
		CreatedAt: api.At(d.CreatedAt), TriedAt: api.MaybeAt(d.TriedAt), NextAt: api.MaybeAt(d.NextAt),
	}
}

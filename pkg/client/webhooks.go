package client

import (
	"context"
	"iter"

	"github.com/svcctl/svcctl/pkg/api"
)

// Webhooks lists the webhooks of a project, or all of them.
func (c *Client) Webhooks(ctx context.Context, project string) ([]api.Webhook, error) {
	list, err := ask[api.WebhookList](ctx, c, get("/webhooks").with(api.ListWebhooksParams{Project: or(project)}))
	return list.Items, err
}

// CreateWebhook sends events to an address from now on.
//
// Codes: webhook_invalid, webhooks_too_many, project_not_found.
func (c *Client) CreateWebhook(ctx context.Context, w api.CreateWebhook) (api.WebhookSecret, error) {
	return ask[api.WebhookSecret](ctx, c, post("/webhooks").json(w))
}

// DeleteWebhook removes a webhook and its deliveries.
//
// Codes: webhook_not_found.
func (c *Client) DeleteWebhook(ctx context.Context, id string) error {
	_, err := read(c.do(ctx, remove("/webhooks/{webhook}", id)))
	return err
}

// TestWebhook sends an event of the type webhook.test once, and returns what came of it.
//
// Codes: webhook_not_found.
func (c *Client) TestWebhook(ctx context.Context, id string) (api.WebhookDelivery, error) {
	return ask[api.WebhookDelivery](ctx, c, post("/webhooks/{webhook}/test", id))
}

// RotateWebhook gives a webhook another secret. For a day the one before signs, too.
//
// Codes: webhook_not_found.
func (c *Client) RotateWebhook(ctx context.Context, id string) (api.WebhookSecret, error) {
	return ask[api.WebhookSecret](ctx, c, post("/webhooks/{webhook}/rotate", id))
}

// Deliveries lists what was sent to a webhook in the last seven days, newest first.
//
// Codes: webhook_not_found.
func (c *Client) Deliveries(ctx context.Context, id string, page Page) (api.DeliveryPage, error) {
	return ask[api.DeliveryPage](ctx, c, get("/webhooks/{webhook}/deliveries", id).with(api.ListDeliveriesParams{Limit: or(page.Limit), Cursor: or(page.Cursor)}))
}

// AllDeliveries lists all deliveries of a webhook, newest first.
//
// Codes: webhook_not_found.
func (c *Client) AllDeliveries(ctx context.Context, id string) iter.Seq2[api.WebhookDelivery, error] {
	return all(func(cursor string) ([]api.WebhookDelivery, *string, error) {
		page, err := c.Deliveries(ctx, id, Page{Limit: 200, Cursor: cursor})
		return page.Items, page.NextCursor, err
	})
}

// ReplayDelivery sends a delivery again.
//
// Codes: webhook_not_found, delivery_not_found.
func (c *Client) ReplayDelivery(ctx context.Context, webhook, delivery string) (api.WebhookDelivery, error) {
	return ask[api.WebhookDelivery](ctx, c, post("/webhooks/{webhook}/deliveries/{delivery}/replay", webhook, delivery))
}

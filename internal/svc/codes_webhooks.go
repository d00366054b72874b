package svc

// The codes of webhooks.
const (
	CodeWebhookInvalid   = "webhook_invalid"
	CodeWebhookNotFound  = "webhook_not_found"
	CodeWebhooksTooMany  = "webhooks_too_many"
	CodeDeliveryNotFound = "delivery_not_found"
)

//nolint:gochecknoglobals // a constant table
var webhookCodes = []CodeInfo{
	{CodeWebhookInvalid, []Kind{Unprocessable}, "A field of the webhook is invalid.", "Correct the field that errors[].pointer names."},
	{CodeWebhookNotFound, []Kind{NotFound}, "The server has no webhook with this id.", "Check the id: svcctl webhooks list."},
	{CodeWebhooksTooMany, []Kind{Unprocessable}, "The server has as many webhooks as it may have.", "Remove one: svcctl webhooks remove."},
	{CodeDeliveryNotFound, []Kind{NotFound}, "The webhook has no delivery with this id; deliveries are kept for seven days.", "Check the id: svcctl webhooks deliveries."},
}

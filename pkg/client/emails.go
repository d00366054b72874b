package client

import (
	"context"

	"github.com/svcctl/svcctl/pkg/api"
)

// Emails lists the last messages that a version sent, newest first: limit of them, 1000 at
// most; 0 for 50.
//
// Codes: the data codes, binding_not_found, invalid_limit.
func (c *Client) Emails(ctx context.Context, project, version string, limit int) ([]api.Email, error) {
	list, err := ask[api.EmailList](ctx, c, get(ofVersion+"/emails", project, version).with(api.ListEmailsParams{Limit: or(limit)}))
	return list.Items, err
}

// Email reads one message that a version sent.
//
// Codes: the data codes, binding_not_found, email_not_found.
func (c *Client) Email(ctx context.Context, project, version, id string) (api.Email, error) {
	return ask[api.Email](ctx, c, get(ofVersion+"/emails/{email}", project, version, id))
}

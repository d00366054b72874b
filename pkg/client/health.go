package client

import (
	"context"
	"net/http"

	"github.com/svcctl/svcctl/pkg/api"
)

// Health checks that the service answers. It needs no token.
func (c *Client) Health(ctx context.Context) (api.Health, error) {
	resp, err := c.raw.GetHealth(ctx, anonymous)
	return as[api.Health](read(resp, err))
}

// DeepHealth checks the parts of the service: registry, object store and deploy
// queue. A failed check is part of the result, not an error. It needs no token.
func (c *Client) DeepHealth(ctx context.Context) (api.DeepHealth, error) {
	resp, err := c.raw.GetDeepHealth(ctx, anonymous)
	return as[api.DeepHealth](read(resp, err, http.StatusServiceUnavailable))
}

// Routes lists the host names of the gateway and the version behind each.
func (c *Client) Routes(ctx context.Context) (api.RoutePage, error) {
	resp, err := c.raw.ListRoutes(ctx)
	return as[api.RoutePage](read(resp, err))
}

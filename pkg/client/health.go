package client

import (
	"context"
	"net/http"

	"github.com/svcctl/svcctl/pkg/api"
)

// Health checks that the service answers. It needs no token.
func (c *Client) Health(ctx context.Context) (api.Health, error) {
	return ask[api.Health](ctx, c, get("/health").edited(anonymous))
}

// DeepHealth checks the parts of the service: registry, object store and deploy
// queue. A failed check is part of the result, not an error. It needs no token.
func (c *Client) DeepHealth(ctx context.Context) (api.DeepHealth, error) {
	resp, err := c.do(ctx, get("/health/deep").edited(anonymous))
	return as[api.DeepHealth](read(resp, err, http.StatusServiceUnavailable))
}

// Routes lists the host names of the gateway and the version behind each.
func (c *Client) Routes(ctx context.Context) (api.RoutePage, error) {
	return c.ProjectRoutes(ctx, "")
}

// ProjectRoutes lists the host names of one project; "" for all projects.
func (c *Client) ProjectRoutes(ctx context.Context, project string) (api.RoutePage, error) {
	return ask[api.RoutePage](ctx, c, get("/runtime/routes").with(api.ListRoutesParams{Project: or(project)}))
}

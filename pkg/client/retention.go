package client

import (
	"context"

	"github.com/svcctl/svcctl/pkg/api"
)

// DeleteProject deletes a project and destroys all of its versions. production confirms
// the id of the production version; "" for a project without one. ctx is its only time
// limit.
//
// Codes: project_not_found, production_moved, promote_in_progress.
func (c *Client) DeleteProject(ctx context.Context, project, production string) (api.DeletedProject, error) {
	resp, err := c.slow.DeleteProject(ctx, project, &api.DeleteProjectParams{Production: production})
	return as[api.DeletedProject](read(resp, err))
}

// ArchiveVersions archives the versions that a filter selects. ctx is its only time limit.
//
// Codes: project_not_found, invalid_status, invalid_parameter.
func (c *Client) ArchiveVersions(ctx context.Context, project string, b api.BulkVersions) (api.BulkReport, error) {
	resp, err := c.slow.ArchiveVersions(ctx, project, b)
	return as[api.BulkReport](read(resp, err))
}

// DestroyVersions destroys the versions that a filter selects. ctx is its only time limit.
//
// Codes: project_not_found, invalid_status, invalid_parameter.
func (c *Client) DestroyVersions(ctx context.Context, project string, b api.BulkVersions) (api.BulkReport, error) {
	resp, err := c.slow.DestroyVersions(ctx, project, b)
	return as[api.BulkReport](read(resp, err))
}

// Retention returns the versions that the retention settings do not keep. It changes
// nothing.
func (c *Client) Retention(ctx context.Context) (api.RetentionReport, error) {
	resp, err := c.raw.GetRetention(ctx)
	return as[api.RetentionReport](read(resp, err))
}

// ApplyRetention destroys the versions that the retention settings do not keep. ctx is its
// only time limit.
func (c *Client) ApplyRetention(ctx context.Context) (api.RetentionReport, error) {
	resp, err := c.slow.ApplyRetention(ctx)
	return as[api.RetentionReport](read(resp, err))
}

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
	return ask[api.DeletedProject](ctx, c, remove("/projects/{project}", project).with(api.DeleteProjectParams{Production: production}).untimed())
}

// ArchiveVersions archives the versions that a filter selects. ctx is its only time limit.
//
// Codes: project_not_found, invalid_status, invalid_parameter.
func (c *Client) ArchiveVersions(ctx context.Context, project string, b api.BulkVersions) (api.BulkReport, error) {
	return ask[api.BulkReport](ctx, c, post("/projects/{project}/versions:archive", project).json(b).untimed())
}

// DestroyVersions destroys the versions that a filter selects. ctx is its only time limit.
//
// Codes: project_not_found, invalid_status, invalid_parameter.
func (c *Client) DestroyVersions(ctx context.Context, project string, b api.BulkVersions) (api.BulkReport, error) {
	return ask[api.BulkReport](ctx, c, post("/projects/{project}/versions:destroy", project).json(b).untimed())
}

// Retention returns the versions that the retention settings do not keep. It changes
// nothing.
func (c *Client) Retention(ctx context.Context) (api.RetentionReport, error) {
	return ask[api.RetentionReport](ctx, c, get("/admin/retention"))
}

// ApplyRetention destroys the versions that the retention settings do not keep. ctx is its
// only time limit.
func (c *Client) ApplyRetention(ctx context.Context) (api.RetentionReport, error) {
	return ask[api.RetentionReport](ctx, c, post("/admin/retention").untimed())
}

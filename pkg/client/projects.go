package client

import (
	"context"
	"iter"

	"github.com/svcctl/svcctl/pkg/api"
)

// Projects lists one page of projects, newest first.
func (c *Client) Projects(ctx context.Context, p Page) (api.ProjectPage, error) {
	return ask[api.ProjectPage](ctx, c, get("/projects").with(api.ListProjectsParams{Limit: or(p.Limit), Cursor: or(p.Cursor)}))
}

// ProjectSummaries lists one page of projects, newest first, each with its Summary.
func (c *Client) ProjectSummaries(ctx context.Context, p Page) (api.ProjectPage, error) {
	params := api.ListProjectsParams{Include: or(api.ListProjectsParamsIncludeSummary), Limit: or(p.Limit), Cursor: or(p.Cursor)}
	return ask[api.ProjectPage](ctx, c, get("/projects").with(params))
}

// AllProjectSummaries yields every project with its Summary, newest first. It ends after
// an error.
func (c *Client) AllProjectSummaries(ctx context.Context) iter.Seq2[api.Project, error] {
	return all(func(cursor string) ([]api.Project, *string, error) {
		page, err := c.ProjectSummaries(ctx, Page{Limit: 200, Cursor: cursor})
		return page.Items, page.NextCursor, err
	})
}

// ProjectSummary returns a project with its Summary.
//
// Codes: project_not_found.
func (c *Client) ProjectSummary(ctx context.Context, id string) (api.Project, error) {
	params := api.GetProjectParams{Include: or(api.GetProjectParamsIncludeSummary)}
	return ask[api.Project](ctx, c, get("/projects/{project}", id).with(params))
}

// AllProjects yields every project, newest first. It ends after an error.
func (c *Client) AllProjects(ctx context.Context) iter.Seq2[api.Project, error] {
	return all(func(cursor string) ([]api.Project, *string, error) {
		page, err := c.Projects(ctx, Page{Limit: 200, Cursor: cursor})
		return page.Items, page.NextCursor, err
	})
}

// CreateProject creates a project. If the project exists with the same content,
// it is returned unchanged.
//
// Codes: invalid_id, id_reserved, invalid_git_remote, project_exists (with
// another content).
func (c *Client) CreateProject(ctx context.Context, p api.CreateProject) (api.Project, error) {
	return ask[api.Project](ctx, c, post("/projects").json(p))
}

// ChangeProject changes settings of a project: those that are set in change.
//
// Codes: project_not_found, parent_not_found, parent_destroyed, env_too_many_keys,
// env_invalid_key, env_reserved_key, env_platform_key, env_value_too_large.
func (c *Client) ChangeProject(ctx context.Context, id string, change api.ChangeProject) (api.Project, error) {
	return ask[api.Project](ctx, c, patch("/projects/{project}", id).json(change))
}

// Project returns a project.
//
// Codes: project_not_found.
func (c *Client) Project(ctx context.Context, id string) (api.Project, error) {
	return ask[api.Project](ctx, c, get("/projects/{project}", id))
}

// ProjectWithVersions returns a project with its newest versions. limit is their
// maximum number; 0 is the service's default.
//
// Codes: project_not_found, invalid_limit.
func (c *Client) ProjectWithVersions(ctx context.Context, id string, limit int) (api.Project, error) {
	params := api.GetProjectParams{Include: or(api.GetProjectParamsIncludeVersions), Limit: or(limit)}
	return ask[api.Project](ctx, c, get("/projects/{project}", id).with(params))
}

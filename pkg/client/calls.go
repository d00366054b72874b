package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/svcctl/svcctl/pkg/api"
)

// Page asks for one page of a list. The zero value is the first page of the
// service's own size.
type Page struct {
	Limit  int
	Cursor string // next_cursor of the page before
}

// Health asks whether the service lives.
func (c *Client) Health(ctx context.Context) (api.Health, error) {
	return answer[api.Health](c.raw.GetHealth(ctx, anonymous))
}

// DeepHealth asks how the service's parts are. A service that is not well is
// no error here: the answer says so.
func (c *Client) DeepHealth(ctx context.Context) (api.DeepHealth, error) {
	resp, err := c.raw.GetDeepHealth(ctx, anonymous)
	return answerOr[api.DeepHealth](resp, err, http.StatusServiceUnavailable)
}

// Routes lists the hosts of the gateway and what is behind them.
func (c *Client) Routes(ctx context.Context) (api.RoutePage, error) {
	return answer[api.RoutePage](c.raw.ListRoutes(ctx))
}

// Projects lists projects, newest first.
func (c *Client) Projects(ctx context.Context, p Page) (api.ProjectPage, error) {
	return answer[api.ProjectPage](c.raw.ListProjects(ctx, &api.ListProjectsParams{Limit: or(p.Limit), Cursor: or(p.Cursor)}))
}

// AllProjects goes through every project, page by page.
func (c *Client) AllProjects(ctx context.Context) iter.Seq2[api.Project, error] {
	return all(func(cursor string) ([]api.Project, *string, error) {
		page, err := c.Projects(ctx, Page{Limit: 200, Cursor: cursor})
		return page.Items, page.NextCursor, err
	})
}

// CreateProject creates a project, or returns the one that exists with the
// same content [D8].
func (c *Client) CreateProject(ctx context.Context, p api.CreateProject) (api.Project, error) {
	return answer[api.Project](c.raw.CreateProject(ctx, p))
}

// Project gets a project.
func (c *Client) Project(ctx context.Context, id string) (api.Project, error) {
	return answer[api.Project](c.raw.GetProject(ctx, id, &api.GetProjectParams{}))
}

// ProjectWithVersions gets a project with its newest versions, limit of them
// at most; 0 leaves the number to the service.
func (c *Client) ProjectWithVersions(ctx context.Context, id string, limit int) (api.Project, error) {
	params := &api.GetProjectParams{Include: or(api.GetProjectParamsIncludeVersions), Limit: or(limit)}
	return answer[api.Project](c.raw.GetProject(ctx, id, params))
}

// Versions lists the versions of a project, newest first; status "" leaves out
// destroyed ones only.
func (c *Client) Versions(ctx context.Context, project string, status api.VersionStatus, p Page) (api.VersionPage, error) {
	params := &api.ListVersionsParams{Limit: or(p.Limit), Cursor: or(p.Cursor), Status: or(status)}
	return answer[api.VersionPage](c.raw.ListVersions(ctx, project, params))
}

// AllVersions goes through the versions of a project, page by page.
func (c *Client) AllVersions(ctx context.Context, project string, status api.VersionStatus) iter.Seq2[api.Version, error] {
	return all(func(cursor string) ([]api.Version, *string, error) {
		page, err := c.Versions(ctx, project, status, Page{Limit: 200, Cursor: cursor})
		return page.Items, page.NextCursor, err
	})
}

// CreateVersion queues a deploy. The same idempotencyKey with the same body
// gives the same version for 24 hours; "" sends none.
func (c *Client) CreateVersion(
	ctx context.Context, project string, v api.CreateVersion, idempotencyKey string,
) (api.VersionAccepted, error) {
	params := &api.CreateVersionParams{IdempotencyKey: or(idempotencyKey)}
	return answer[api.VersionAccepted](c.raw.CreateVersion(ctx, project, params, v, c.asDeployer))
}

// Version gets a version.
func (c *Client) Version(ctx context.Context, project, version string) (api.Version, error) {
	return answer[api.Version](c.raw.GetVersion(ctx, project, version))
}

// Logs gives the last lines a version wrote, oldest first; tail 0 leaves the
// number to the service.
func (c *Client) Logs(ctx context.Context, project, version string, tail int) ([]api.LogLine, error) {
	lines, err := answer[api.LogLines](c.raw.ListLogs(ctx, project, version, &api.ListLogsParams{Tail: or(tail)}))
	return lines.Items, err
}

// Promote makes a version production. It returns once the saga has started:
// WaitPromotion sees its end.
func (c *Client) Promote(ctx context.Context, project, version string, p api.PromoteVersion) (api.PromotionAccepted, error) {
	return answer[api.PromotionAccepted](c.raw.PromoteVersion(ctx, project, version, &api.PromoteVersionParams{}, p))
}

// Promotion gets a promotion with the steps of its saga.
func (c *Client) Promotion(ctx context.Context, project, operation string) (api.Promotion, error) {
	return answer[api.Promotion](c.raw.GetPromotion(ctx, project, operation))
}

// Promotions lists the promotions of a project, newest first.
func (c *Client) Promotions(ctx context.Context, project string, p Page) (api.PromotionPage, error) {
	params := &api.ListPromotionsParams{Limit: or(p.Limit), Cursor: or(p.Cursor)}
	return answer[api.PromotionPage](c.raw.ListPromotions(ctx, project, params))
}

// all goes through pages until the last one or an error.
func all[T any](page func(cursor string) ([]T, *string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		cursor := ""
		for {
			items, next, err := page(cursor)
			if err != nil {
				var zero T
				yield(zero, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == nil {
				return
			}
			cursor = *next
		}
	}
}

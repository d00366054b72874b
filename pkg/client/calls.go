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
	resp, err := c.raw.GetHealth(ctx, anonymous)
	return as[api.Health](read(resp, err))
}

// DeepHealth asks how the service's parts are. A service that is not well is
// no error here: the answer says so.
func (c *Client) DeepHealth(ctx context.Context) (api.DeepHealth, error) {
	resp, err := c.raw.GetDeepHealth(ctx, anonymous)
	return as[api.DeepHealth](read(resp, err, http.StatusServiceUnavailable))
}

// Routes lists the hosts of the gateway and what is behind them.
func (c *Client) Routes(ctx context.Context) (api.RoutePage, error) {
	resp, err := c.raw.ListRoutes(ctx)
	return as[api.RoutePage](read(resp, err))
}

// Projects lists projects, newest first.
func (c *Client) Projects(ctx context.Context, p Page) (api.ProjectPage, error) {
	resp, err := c.raw.ListProjects(ctx, &api.ListProjectsParams{Limit: or(p.Limit), Cursor: or(p.Cursor)})
	return as[api.ProjectPage](read(resp, err))
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
	resp, err := c.raw.CreateProject(ctx, p)
	return as[api.Project](read(resp, err))
}

// Project gets a project.
func (c *Client) Project(ctx context.Context, id string) (api.Project, error) {
	resp, err := c.raw.GetProject(ctx, id, &api.GetProjectParams{})
	return as[api.Project](read(resp, err))
}

// ProjectWithVersions gets a project with its newest versions, limit of them
// at most; 0 leaves the number to the service.
func (c *Client) ProjectWithVersions(ctx context.Context, id string, limit int) (api.Project, error) {
	params := &api.GetProjectParams{Include: or(api.GetProjectParamsIncludeVersions), Limit: or(limit)}
	resp, err := c.raw.GetProject(ctx, id, params)
	return as[api.Project](read(resp, err))
}

// Versions lists the versions of a project, newest first; status "" leaves out
// destroyed ones only.
func (c *Client) Versions(ctx context.Context, project string, status api.VersionStatus, p Page) (api.VersionPage, error) {
	params := &api.ListVersionsParams{Limit: or(p.Limit), Cursor: or(p.Cursor), Status: or(status)}
	resp, err := c.raw.ListVersions(ctx, project, params)
	return as[api.VersionPage](read(resp, err))
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
	resp, err := c.raw.CreateVersion(ctx, project, params, v, c.asDeployer)
	return as[api.VersionAccepted](read(resp, err))
}

// Version gets a version.
func (c *Client) Version(ctx context.Context, project, version string) (api.Version, error) {
	resp, err := c.raw.GetVersion(ctx, project, version)
	return as[api.Version](read(resp, err))
}

// Archive stops the process of a version and keeps its data. It returns once the
// object store has all of it, which may be half an hour: the only time limit is
// ctx. One that is given up goes on; another call waits for its end.
func (c *Client) Archive(ctx context.Context, project, version string) (api.Version, error) {
	resp, err := c.slow.ArchiveVersion(ctx, project, version)
	return as[api.Version](read(resp, err))
}

// Wake starts an archived version again. One that takes long is returned as it
// is, deploying: Wait sees how it ends.
func (c *Client) Wake(ctx context.Context, project, version string) (api.Version, error) {
	resp, err := c.raw.WakeVersion(ctx, project, version)
	return as[api.Version](read(resp, err))
}

// Destroy removes a version for good and returns its tombstone.
func (c *Client) Destroy(ctx context.Context, project, version string) (api.Version, error) {
	resp, err := c.raw.DestroyVersion(ctx, project, version)
	return as[api.Version](read(resp, err))
}

// Pin protects a version from idle archiving.
func (c *Client) Pin(ctx context.Context, project, version string) (api.Version, error) {
	resp, err := c.raw.PinVersion(ctx, project, version)
	return as[api.Version](read(resp, err))
}

// Unpin lets idle archiving have a version.
func (c *Client) Unpin(ctx context.Context, project, version string) (api.Version, error) {
	resp, err := c.raw.UnpinVersion(ctx, project, version)
	return as[api.Version](read(resp, err))
}

// Logs gives the last lines a version wrote, oldest first; tail 0 leaves the
// number to the service.
func (c *Client) Logs(ctx context.Context, project, version string, tail int) ([]api.LogLine, error) {
	resp, err := c.raw.ListLogs(ctx, project, version, &api.ListLogsParams{Tail: or(tail)})
	lines, err := as[api.LogLines](read(resp, err))
	return lines.Items, err
}

// Promote makes a version production. It returns once the saga has started:
// WaitPromotion sees its end.
func (c *Client) Promote(ctx context.Context, project, version string, p api.PromoteVersion) (api.PromotionAccepted, error) {
	resp, err := c.raw.PromoteVersion(ctx, project, version, &api.PromoteVersionParams{}, p)
	return as[api.PromotionAccepted](read(resp, err))
}

// Promotion gets a promotion with the steps of its saga.
func (c *Client) Promotion(ctx context.Context, project, operation string) (api.Promotion, error) {
	resp, err := c.raw.GetPromotion(ctx, project, operation)
	return as[api.Promotion](read(resp, err))
}

// Promotions lists the promotions of a project, newest first.
func (c *Client) Promotions(ctx context.Context, project string, p Page) (api.PromotionPage, error) {
	params := &api.ListPromotionsParams{Limit: or(p.Limit), Cursor: or(p.Cursor)}
	resp, err := c.raw.ListPromotions(ctx, project, params)
	return as[api.PromotionPage](read(resp, err))
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

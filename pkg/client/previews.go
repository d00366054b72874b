package client

import (
	"context"
	"iter"

	"github.com/svcctl/svcctl/pkg/api"
)

// Previews lists one page of a project's previews, the one with the newest version first.
//
// Codes: project_not_found.
func (c *Client) Previews(ctx context.Context, project string, p Page) (api.PreviewPage, error) {
	params := api.ListPreviewsParams{Limit: or(p.Limit), Cursor: or(p.Cursor)}
	return ask[api.PreviewPage](ctx, c, get("/projects/{project}/previews", project).with(params))
}

// AllPreviews yields a project's previews like [Client.Previews], every page. It ends
// after an error.
//
// Codes: project_not_found.
func (c *Client) AllPreviews(ctx context.Context, project string) iter.Seq2[api.Preview, error] {
	return all(func(cursor string) ([]api.Preview, *string, error) {
		page, err := c.Previews(ctx, project, Page{Limit: 200, Cursor: cursor})
		return page.Items, page.NextCursor, err
	})
}

// Preview returns a preview.
//
// Codes: project_not_found, preview_not_found.
func (c *Client) Preview(ctx context.Context, project, name string) (api.Preview, error) {
	return ask[api.Preview](ctx, c, get("/projects/{project}/previews/{preview}", project, name))
}

// DeletePreview destroys every version of a preview, with data, logs and bundles, and
// returns the preview as it was. ctx is its only time limit.
//
// Codes: project_not_found, preview_not_found, version_is_production,
// promote_in_progress, shutting_down.
func (c *Client) DeletePreview(ctx context.Context, project, name string) (api.Preview, error) {
	return ask[api.Preview](ctx, c, remove("/projects/{project}/previews/{preview}", project, name).untimed())
}

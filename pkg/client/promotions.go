package client

import (
	"context"
	"iter"

	"github.com/svcctl/svcctl/pkg/api"
)

// Promote makes a version production. It returns when the promotion has begun;
// [Client.WaitPromotion] follows it. Promoting the production version changes
// nothing.
//
// Codes: project_not_found, version_not_found, version_destroyed,
// version_not_ready, version_not_serving (the runtime crashed and does not start),
// promote_in_progress, shutting_down, production_moved (production is not p.ExpectedProdVersionID),
// promote_leaves_writes (the project's guard is on, and p.LeaveWrites is not set).
func (c *Client) Promote(ctx context.Context, project, version string, p api.PromoteVersion) (api.PromotionAccepted, error) {
	return ask[api.PromotionAccepted](ctx, c, post(ofVersion+"/promote", project, version).json(p))
}

// Release puts the code of a version, the candidate, on the data of production: the server makes a
// new version. It returns when the release has begun; [Client.WaitPromotion] follows it.
//
// Codes: project_not_found, version_not_found, version_destroyed, version_not_ready, version_exists,
// no_production, fork_of_production (the candidate is a pull request's), invalid_release,
// release_too_slow, schema_moved, promote_in_progress, shutting_down, production_moved.
func (c *Client) Release(ctx context.Context, project, candidate string, r api.ReleaseVersion) (api.ReleaseAccepted, error) {
	return ask[api.ReleaseAccepted](ctx, c, post(ofVersion+"/release", project, candidate).json(r))
}

// ReleasePlan returns what a release of a version would do. It changes nothing.
//
// Codes: project_not_found, version_not_found.
func (c *Client) ReleasePlan(ctx context.Context, project, candidate string) (api.ReleasePlan, error) {
	return ask[api.ReleasePlan](ctx, c, get(ofVersion+"/release-plan", project, candidate))
}

// PromotionPlan returns what a promote of a version would leave behind: what production
// wrote that the version lacks, and the work that waits at production. It changes nothing.
//
// Codes: project_not_found, version_not_found.
func (c *Client) PromotionPlan(ctx context.Context, project, version string) (api.PromotionPlan, error) {
	return ask[api.PromotionPlan](ctx, c, get(ofVersion+"/promotion-plan", project, version))
}

// Promotion returns a promotion with its steps. operation is the operation id
// that [Client.Promote] returned.
//
// Codes: promotion_not_found.
func (c *Client) Promotion(ctx context.Context, project, operation string) (api.Promotion, error) {
	return ask[api.Promotion](ctx, c, get("/projects/{project}/promotions/{operation}", project, operation))
}

// Promotions lists one page of a project's promotions, newest first.
//
// Codes: project_not_found.
func (c *Client) Promotions(ctx context.Context, project string, p Page) (api.PromotionPage, error) {
	params := api.ListPromotionsParams{Limit: or(p.Limit), Cursor: or(p.Cursor)}
	return ask[api.PromotionPage](ctx, c, get("/projects/{project}/promotions", project).with(params))
}

// AllPromotions yields a project's promotions like [Client.Promotions], every page. It ends
// after an error.
//
// Codes: project_not_found.
func (c *Client) AllPromotions(ctx context.Context, project string) iter.Seq2[api.Promotion, error] {
	return all(func(cursor string) ([]api.Promotion, *string, error) {
		page, err := c.Promotions(ctx, project, Page{Limit: 200, Cursor: cursor})
		return page.Items, page.NextCursor, err
	})
}

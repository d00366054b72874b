package client

import (
	"context"
	"iter"

	"github.com/svcctl/svcctl/pkg/api"
)

// Versions lists one page of a project's versions, newest first. A status
// selects the versions that have it; "" selects all but destroyed ones.
//
// Codes: project_not_found, invalid_status.
func (c *Client) Versions(ctx context.Context, project string, status api.VersionStatus, p Page) (api.VersionPage, error) {
	params := api.ListVersionsParams{Limit: or(p.Limit), Cursor: or(p.Cursor), Status: or(status)}
	return ask[api.VersionPage](ctx, c, get("/projects/{project}/versions", project).with(params))
}

// AllVersions yields a project's versions like [Client.Versions], every page. It
// ends after an error.
//
// Codes: project_not_found, invalid_status.
func (c *Client) AllVersions(ctx context.Context, project string, status api.VersionStatus) iter.Seq2[api.Version, error] {
	return all(func(cursor string) ([]api.Version, *string, error) {
		page, err := c.Versions(ctx, project, status, Page{Limit: 200, Cursor: cursor})
		return page.Items, page.NextCursor, err
	})
}

// CreateVersion creates a version and queues its deploy; [Client.Wait] follows it,
// also with the poll ticket of the result ([Client.WithTicket]). With v.Upload the
// result says where [Client.Upload] sends the bundle. For 24 hours a repeat with the
// same idempotencyKey and body returns the same version; "" sends no key.
// CreateVersion uses the deploy token.
//
// Codes: project_not_found, version_exists, queue_full, invalid_id,
// host_too_long, invalid_digest, invalid_label, env_too_many_keys,
// env_invalid_key, env_reserved_key, env_platform_key, env_value_too_large,
// parent_not_found, parent_not_ready, parent_destroyed, no_production, fork_of_production,
// invalid_events,
// preview_name_taken, project_of_other_worker, invalid_preview,
// invalid_idempotency_key, idempotency_mismatch.
func (c *Client) CreateVersion(
	ctx context.Context, project string, v api.CreateVersion, idempotencyKey string,
) (api.VersionAccepted, error) {
	params := api.CreateVersionParams{IdempotencyKey: or(idempotencyKey), SvcWorkerName: c.worker, SvcWorkerRenamed: c.renamed}
	return ask[api.VersionAccepted](ctx, c, post("/projects/{project}/versions", project).with(params).json(v).edited(c.asDeployer))
}

// Version returns a version, the values of its environment hidden.
//
// Codes: version_not_found.
func (c *Client) Version(ctx context.Context, project, version string) (api.Version, error) {
	return ask[api.Version](ctx, c, get(ofVersion, project, version))
}

// Bundle returns what the bundle of a version has in it.
//
// Codes: version_not_found, version_destroyed, artifact_missing, artifact_unreadable.
func (c *Client) Bundle(ctx context.Context, project, version string) (api.Bundle, error) {
	return ask[api.Bundle](ctx, c, get(ofVersion+"/bundle", project, version))
}

// Compare returns what differs between two versions of a project.
//
// Codes: version_not_found, version_destroyed, artifact_missing, artifact_unreadable.
func (c *Client) Compare(ctx context.Context, project, from, to string) (api.Comparison, error) {
	return ask[api.Comparison](ctx, c, get("/projects/{project}/compare", project).with(api.CompareVersionsParams{From: from, To: to}))
}

// CompareData returns what each of two versions of a project wrote since their data began
// to differ. It takes 20 seconds at most.
//
// Codes: version_not_found.
func (c *Client) CompareData(ctx context.Context, project, from, to string) (api.DataComparison, error) {
	return ask[api.DataComparison](ctx, c, get("/projects/{project}/compare/data", project).with(api.CompareDataParams{From: from, To: to}))
}

// RevealVersion returns a version with the values of its environment.
//
// Codes: version_not_found.
func (c *Client) RevealVersion(ctx context.Context, project, version string) (api.Version, error) {
	return ask[api.Version](ctx, c, get(ofVersion, project, version).with(api.GetVersionParams{Reveal: or(true)}))
}

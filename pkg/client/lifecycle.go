package client

import (
	"context"

	"github.com/svcctl/svcctl/pkg/api"
)

// Archive stops the process of a version and keeps its data. It returns when the
// object store has all of the data, which can take half an hour; ctx is its only
// time limit. The archive continues when ctx ends, and another call waits for it.
//
// Codes: version_not_found, version_destroyed, version_not_ready,
// version_is_production, promote_in_progress, shutting_down, archive_incomplete
// (the version is archived, and some of its data is on the server's disk only).
func (c *Client) Archive(ctx context.Context, project, version string) (api.Version, error) {
	return ask[api.Version](ctx, c, post(ofVersion+"/archive", project, version).untimed())
}

// Wake starts an archived version. If the start takes long, Wake returns the
// version with status deploying, and [Client.Wait] follows it.
//
// Codes: version_not_found, version_destroyed, version_not_ready, shutting_down,
// wake_failed (the version is archived again), version_not_serving (the runtime of a
// ready version crashed and does not start).
func (c *Client) Wake(ctx context.Context, project, version string) (api.Version, error) {
	return ask[api.Version](ctx, c, post(ofVersion+"/wake", project, version))
}

// Destroy deletes a version, its data, logs and bundle, and returns its
// tombstone. Destroying a destroyed version changes nothing.
//
// Codes: version_not_found, version_is_production, promote_in_progress,
// shutting_down.
func (c *Client) Destroy(ctx context.Context, project, version string) (api.Version, error) {
	return ask[api.Version](ctx, c, remove(ofVersion, project, version))
}

// Pin protects a version from being archived when idle.
//
// Codes: version_not_found, version_destroyed.
func (c *Client) Pin(ctx context.Context, project, version string) (api.Version, error) {
	return ask[api.Version](ctx, c, post(ofVersion+"/pin", project, version))
}

// Unpin allows a version to be archived when idle.
//
// Codes: version_not_found, version_destroyed.
func (c *Client) Unpin(ctx context.Context, project, version string) (api.Version, error) {
	return ask[api.Version](ctx, c, post(ofVersion+"/unpin", project, version))
}

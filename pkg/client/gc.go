package client

import (
	"context"

	"github.com/svcctl/svcctl/pkg/api"
)

// Garbage reports what the object store holds for each version, and what
// [Client.CollectGarbage] would delete. It changes nothing. project "" is all
// projects.
//
// Codes: project_not_found, store_unavailable.
func (c *Client) Garbage(ctx context.Context, project string) (api.GarbageReport, error) {
	return ask[api.GarbageReport](ctx, c, get("/admin/gc").with(api.GetGarbageParams{Project: or(project)}))
}

// Branches returns the versions of a project as a tree: each child after its parent,
// with the sizes of their data.
//
// Codes: project_not_found, gc_failed.
func (c *Client) Branches(ctx context.Context, project string) (api.BranchTree, error) {
	return ask[api.BranchTree](ctx, c, get("/projects/{project}/branches", project))
}

// CollectGarbage sweeps the object store: it marks the objects that no version
// needs, and deletes those that were marked longer ago than the grace time, in one
// project, or in all if project is "".
//
// Codes: project_not_found, store_unavailable.
func (c *Client) CollectGarbage(ctx context.Context, project string) (api.GarbageReport, error) {
	return ask[api.GarbageReport](ctx, c, post("/admin/gc").with(api.CollectGarbageParams{Project: or(project)}))
}

// AuditStorage checks that the object store has the objects that versions need,
// in one project, or in all if project is "". It changes nothing.
//
// Codes: project_not_found, store_unavailable.
func (c *Client) AuditStorage(ctx context.Context, project string) (api.StorageAudit, error) {
	return ask[api.StorageAudit](ctx, c, post("/admin/gc/audit").with(api.AuditStorageParams{Project: or(project)}))
}

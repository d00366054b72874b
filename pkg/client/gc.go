package client

import (
	"context"

	"github.com/svcctl/svcctl/pkg/api"
)

// Garbage says what the object store holds and for whom, and what a sweep would
// do; of one project, or of all for "". It changes nothing.
func (c *Client) Garbage(ctx context.Context, project string) (api.GarbageReport, error) {
	resp, err := c.raw.GetGarbage(ctx, &api.GetGarbageParams{Project: or(project)})
	return as[api.GarbageReport](read(resp, err))
}

// CollectGarbage sweeps the object store now: one project, or all for "".
func (c *Client) CollectGarbage(ctx context.Context, project string) (api.GarbageReport, error) {
	resp, err := c.raw.CollectGarbage(ctx, &api.CollectGarbageParams{Project: or(project)})
	return as[api.GarbageReport](read(resp, err))
}

// AuditStorage checks that the object store has what versions need: those of one
// project, or all for "". It changes nothing.
func (c *Client) AuditStorage(ctx context.Context, project string) (api.StorageAudit, error) {
	resp, err := c.raw.AuditStorage(ctx, &api.AuditStorageParams{Project: or(project)})
	return as[api.StorageAudit](read(resp, err))
}

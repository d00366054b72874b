package client

import (
	"context"
	"strings"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// ServerInfo returns what the server is and how it is set.
func (c *Client) ServerInfo(ctx context.Context) (api.Server, error) {
	resp, err := c.raw.GetServer(ctx)
	return as[api.Server](read(resp, err))
}

// DeployQueue returns the deploys that run and wait. [Client.Destroy] of the version cancels
// one.
func (c *Client) DeployQueue(ctx context.Context) (api.DeployQueue, error) {
	resp, err := c.raw.GetDeployQueue(ctx)
	return as[api.DeployQueue](read(resp, err))
}

// MetricsSummary returns the requests of a window until now, at most 9m55s; 0 for five
// minutes.
func (c *Client) MetricsSummary(ctx context.Context, window time.Duration) (api.MetricsSummary, error) {
	params := &api.GetMetricsSummaryParams{}
	if window > 0 {
		params.Window = window.String()
	}
	resp, err := c.raw.GetMetricsSummary(ctx, params)
	return as[api.MetricsSummary](read(resp, err))
}

// VersionQuery selects versions of all projects. The zero value selects all that are
// not destroyed.
type VersionQuery struct {
	Project  string
	Statuses []api.VersionStatus
	GitRef   string
	Parent   string
	Pinned   *bool
	Since    string // a time in RFC 3339, or a duration such as "24h"
	Text     string // in the id, the ref, the commit or the error
}

// SearchVersions lists one page of the versions of all projects that q selects, newest
// first.
//
// Codes: invalid_status.
func (c *Client) SearchVersions(ctx context.Context, q VersionQuery, p Page) (api.VersionPage, error) {
	statuses := make([]string, len(q.Statuses))
	for i, s := range q.Statuses {
		statuses[i] = string(s)
	}
	resp, err := c.raw.SearchVersions(ctx, &api.SearchVersionsParams{
		Limit: or(p.Limit), Cursor: or(p.Cursor), Project: q.Project, Status: strings.Join(statuses, ","), Ref: q.GitRef, Parent: q.Parent,
		Pinned: q.Pinned, Since: q.Since, Q: q.Text,
	})
	return as[api.VersionPage](read(resp, err))
}

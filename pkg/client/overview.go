package client

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// ServerInfo returns what the server is and how it is set.
func (c *Client) ServerInfo(ctx context.Context) (api.Server, error) {
	return ask[api.Server](ctx, c, get("/server"))
}

// Leases lists one page of the versions of all projects, or of one, with the owners of their
// data, newest first, and all nodes. project is "" for all.
//
// Codes: invalid_limit, invalid_cursor.
func (c *Client) Leases(ctx context.Context, project string, p Page) (api.LeasePage, error) {
	params := api.ListLeasesParams{Project: project, Limit: or(p.Limit), Cursor: or(p.Cursor)}
	return ask[api.LeasePage](ctx, c, get("/server/leases").with(params))
}

// Certificates lists the certificates of https, and orders of more; both lists are empty for
// a server without it.
func (c *Client) Certificates(ctx context.Context) (api.CertificateList, error) {
	return ask[api.CertificateList](ctx, c, get("/certificates"))
}

// Nodes lists the machines that run versions; the list is empty for a server that runs them
// itself.
func (c *Client) Nodes(ctx context.Context) (api.NodeList, error) {
	return ask[api.NodeList](ctx, c, get("/nodes"))
}

// Gateways lists the gateways that serve visitors: the server's own one, and those on other
// machines.
func (c *Client) Gateways(ctx context.Context) (api.GatewayList, error) {
	return ask[api.GatewayList](ctx, c, get("/gateways"))
}

// Checkup checks the installation from inside, for at most 30 seconds.
func (c *Client) Checkup(ctx context.Context) (api.Checkup, error) {
	return ask[api.Checkup](ctx, c, get("/admin/checkup").untimed())
}

// Whoami returns what the admin token may do; of a client without one, the deploy token.
func (c *Client) Whoami(ctx context.Context) (api.Whoami, error) {
	return ask[api.Whoami](ctx, c, get("/whoami"))
}

// DashboardTicket returns an address that signs a browser in to the dashboard with the
// role of the admin token. It works once, within a minute, and is a credential.
func (c *Client) DashboardTicket(ctx context.Context) (api.DashboardTicket, error) {
	return ask[api.DashboardTicket](ctx, c, post("/dashboard/tickets"))
}

// DeployQueue returns the deploys that run and wait. [Client.Destroy] of the version cancels
// one.
func (c *Client) DeployQueue(ctx context.Context) (api.DeployQueue, error) {
	return ask[api.DeployQueue](ctx, c, get("/queue"))
}

// MetricsSummary returns the requests of a window until now, at most 9m55s; 0 for five
// minutes.
func (c *Client) MetricsSummary(ctx context.Context, window time.Duration) (api.MetricsSummary, error) {
	params := api.GetMetricsSummaryParams{}
	if window > 0 {
		params.Window = window.String()
	}
	return ask[api.MetricsSummary](ctx, c, get("/metrics/summary").with(params))
}

// VersionQuery selects versions of all projects. The zero value selects all that are
// not destroyed.
type VersionQuery struct {
	Project  string
	Statuses []api.VersionStatus
	GitRef   string
	Parent   string
	Pinned   *bool
	Since    string   // a time in RFC 3339, or a duration such as "24h"
	Labels   []string // "name=value", or "name" for any value; a version has all of them
	Text     string   // in the id, the ref, the commit or the error
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
	return ask[api.VersionPage](ctx, c, get("/versions").with(api.SearchVersionsParams{
		Limit: or(p.Limit), Cursor: or(p.Cursor), Project: q.Project, Status: strings.Join(statuses, ","), Ref: q.GitRef, Parent: q.Parent,
		Pinned: q.Pinned, Since: q.Since, Label: strings.Join(q.Labels, ","), Q: q.Text,
	}))
}

// AllFound yields the versions that q selects like [Client.SearchVersions], every page. It
// ends after an error.
//
// Codes: invalid_status.
func (c *Client) AllFound(ctx context.Context, q VersionQuery) iter.Seq2[api.Version, error] {
	return all(func(cursor string) ([]api.Version, *string, error) {
		page, err := c.SearchVersions(ctx, q, Page{Limit: 200, Cursor: cursor})
		return page.Items, page.NextCursor, err
	})
}

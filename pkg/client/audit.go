package client

import (
	"context"
	"iter"

	"github.com/svcctl/svcctl/pkg/api"
)

// AuditFilter selects audit records. Zero fields select all.
type AuditFilter struct {
	Since   string // a time (RFC 3339), or a duration until now such as "24h"
	Project string
	Version string
	Action  string // operation id, such as "promoteVersion"
}

// Audit lists one page of the changes that clients of the API made, newest first.
//
// Codes: invalid_parameter, invalid_cursor.
func (c *Client) Audit(ctx context.Context, f AuditFilter, p Page) (api.AuditPage, error) {
	params := api.ListAuditParams{
		Limit: or(p.Limit), Cursor: or(p.Cursor), Since: f.Since, Project: f.Project, Version: f.Version, Action: f.Action,
	}
	return ask[api.AuditPage](ctx, c, get("/audit").with(params))
}

// AllAudit yields the records like [Client.Audit], every page. It ends after an error.
//
// Codes: invalid_parameter.
func (c *Client) AllAudit(ctx context.Context, f AuditFilter) iter.Seq2[api.AuditRecord, error] {
	return all(func(cursor string) ([]api.AuditRecord, *string, error) {
		page, err := c.Audit(ctx, f, Page{Limit: 200, Cursor: cursor})
		return page.Items, page.NextCursor, err
	})
}

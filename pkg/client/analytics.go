package client

import (
	"context"

	"github.com/svcctl/svcctl/pkg/api"
)

// QueryAnalytics runs a statement of SQL on the data points of a version.
//
// Codes: the data codes, binding_not_found, sql_error.
func (c *Client) QueryAnalytics(ctx context.Context, project, version, sql string) (api.AnalyticsResult, error) {
	return ask[api.AnalyticsResult](ctx, c, post(ofVersion+"/analytics/query", project, version).json(api.AnalyticsQuery{SQL: sql}))
}

package client

import (
	"context"

	"github.com/svcctl/svcctl/pkg/api"
)

// Crons lists the cron expressions of a version: when they are due next, and how they
// ran last.
//
// Codes: the data codes.
func (c *Client) Crons(ctx context.Context, project, version string) (api.CronList, error) {
	return ask[api.CronList](ctx, c, get(ofVersion+"/crons", project, version))
}

// CronRuns lists one page of the last 1000 cron runs of a version, newest first.
//
// Codes: the data codes.
func (c *Client) CronRuns(ctx context.Context, project, version string, p Page) (api.CronRunPage, error) {
	params := api.ListCronRunsParams{Limit: or(p.Limit), Cursor: or(p.Cursor)}
	return ask[api.CronRunPage](ctx, c, get(ofVersion+"/crons/runs", project, version).with(params))
}

package client

import (
	"context"

	"github.com/svcctl/svcctl/pkg/api"
)

// TriggerScheduled runs the scheduled handler of a version once and returns how
// the run ended: a handler that throws is no error. Only ctx limits the call, and
// t.TimeoutMs the run; the end of ctx ends the run.
//
// Codes: version_not_found, version_not_ready, version_archived, version_failed,
// version_destroyed, invalid_event, handler_missing, runtime_unavailable.
func (c *Client) TriggerScheduled(ctx context.Context, project, version string, t api.TriggerScheduled) (api.ScheduledRun, error) {
	return ask[api.ScheduledRun](ctx, c, post(ofVersion+"/scheduled", project, version).with(c.force).json(t).untimed())
}

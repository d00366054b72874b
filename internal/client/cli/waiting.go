package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// countTime is the time limit for counting the work of a version after a promote.
const countTime = 2 * time.Second

// unfinished counts the work that stays with a version: none when that cannot be found out.
func unfinished(ctx context.Context, c *client.Client, project, version string) (w api.WaitingWork) {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	queues, _ := c.Queues(ctx, project, version)
	for _, q := range queues {
		if q.Consumer != nil {
			w.Messages += int(q.Ready + q.Delayed + q.Inflight)
		}
	}
	workflows, _ := c.Workflows(ctx, project, version)
	for _, f := range workflows {
		for _, state := range []string{"queued", "running", "waiting", "waitingForPause", "paused"} {
			w.Instances += int(f.Counts[state])
		}
	}
	return w
}

// workOf says how much work waits: "2 messages and 1 instance of a workflow".
func workOf(w api.WaitingWork) string {
	instances := strconv.Itoa(w.Instances) + " instances of workflows"
	if w.Instances == 1 {
		instances = "1 instance of a workflow"
	}
	switch {
	case w.Instances == 0:
		return messages(w.Messages)
	case w.Messages == 0:
		return instances
	}
	return messages(w.Messages) + " and " + instances
}

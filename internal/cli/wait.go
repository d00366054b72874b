package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

type waitFor struct {
	project, version string
	timeout          time.Duration
}

// waitReady follows a deploy to its end, showing each step. A version that
// failed is told with the last lines of its worker.
func waitReady(ctx context.Context, k *kit.Kit, c *client.Client, w waitFor) (api.Version, error) {
	progress := k.NewProgress()
	defer progress.Abort()
	bounded, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	v, err := c.Wait(bounded, w.project, w.version, func(v api.Version) { showStep(progress, v) })
	var ended *client.VersionError
	switch {
	case err == nil:
		progress.Done("")
		return v, nil
	case errors.As(err, &ended):
		progress.Abort()
		showLogs(ctx, k, c, ended.Version)
		return v, err
	case errors.Is(err, context.DeadlineExceeded):
		return v, &kit.TimeoutError{Text: fmt.Sprintf("%s/%s is not ready after %s; the deploy goes on: svcctl versions get %[1]s/%[2]s --wait",
			w.project, w.version, w.timeout)}
	case ctx.Err() != nil:
		return v, fmt.Errorf("stopped waiting, the deploy goes on: svcctl versions get %s/%s --wait: %w", w.project, w.version, ctx.Err())
	default:
		return v, err
	}
}

// showStep tells what the deploy is doing; a version that is over has no stage.
func showStep(p *kit.Progress, v api.Version) {
	switch v.Status {
	case api.VersionStatusReady, api.VersionStatusDraining, api.VersionStatusFailed, api.VersionStatusArchived, api.VersionStatusDestroyed:
	case api.VersionStatusPending, api.VersionStatusFetching, api.VersionStatusBranching, api.VersionStatusPreparing,
		api.VersionStatusDeploying, api.VersionStatusDeployReady:
		p.Stage(string(v.Status))
	}
}

// showLogs prints the last lines of a failed version's worker, if there are any.
func showLogs(ctx context.Context, k *kit.Kit, c *client.Client, v api.Version) {
	lines, err := c.Logs(ctx, v.ProjectID, v.ID, 20)
	if err != nil || len(lines) == 0 {
		return
	}
	k.Notef("last lines of the worker:")
	for _, l := range lines {
		at := ""
		if !l.Time.IsZero() { // what is printed while a worker loads has no time
			at = l.Time.Format(time.TimeOnly)
		}
		k.Notef("  %-8s %-5s %s", at, l.Level, kit.Clean(l.Message))
	}
}

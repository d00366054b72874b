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
	told := 0
	v, err := c.Wait(bounded, w.project, w.version, func(v api.Version) { told = showSteps(progress, v, told) })
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

// showSteps tells what the deploy did since told steps of it were told, and what
// it is doing. Looks are rarer than steps, so the times are the server's. A step
// that failed is told by the error.
func showSteps(p *kit.Progress, v api.Version, told int) int {
	if len(v.Timeline) == 0 && v.Status == api.VersionStatusPending {
		p.Stage(string(v.Status))
	}
	for ; told < len(v.Timeline); told++ {
		step := v.Timeline[told]
		switch {
		case step.EndedAt == nil:
			p.Stage(kit.Clean(step.Step))
			return told
		case step.Status == api.StepStatusDone:
			p.Past(kit.Clean(step.Step), step.EndedAt.Sub(step.StartedAt.Time))
		}
	}
	return told
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

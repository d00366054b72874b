package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// waitFor is a wait that --timeout bounds.
type waitFor struct {
	project, version string
	timeout          time.Duration
	verb             string // that is waited for; "" for a deploy
	again            string // the command line that resumes the wait
}

// goesOn says what the end of the wait does not end, and on a line of its own how to
// wait again. A verb that is repeated joins the one under way.
func (w waitFor) goesOn() string {
	return fmt.Sprintf("the %s of %s/%s continues; to resume waiting:\n  %s", cmp.Or(w.verb, "deploy"), w.project, w.version, w.again)
}

// late is err, or what --timeout and Ctrl-C make of it, which end ctx.
func (w waitFor) late(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil { // an HTTP client has time limits of its own
		return err
	}
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &kit.InterruptedError{Text: "stopped waiting; " + w.goesOn()}
	}
	aim := "ready"
	if w.verb == "archive" {
		aim = "archived"
	}
	return &kit.TimeoutError{Text: fmt.Sprintf("%s/%s is not %s after %s; %s", w.project, w.version, aim, w.timeout, w.goesOn())}
}

// timeoutFlag adds --timeout to a command that asks for the work and waits for
// it in one: without time it would not even ask.
func timeoutFlag(cmd *cobra.Command, timeout *time.Duration, verb string) {
	cmd.Flags().DurationVar(timeout, "timeout", 5*time.Minute, "time limit for waiting; the "+verb+" continues after it")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *timeout <= 0 {
			return kit.Usagef("--timeout must be more than 0")
		}
		return nil
	}
}

// deployWait waits for a deploy.
func deployWait(k *kit.Kit, project, version string, timeout time.Duration) waitFor {
	return waitFor{project: project, version: version, timeout: timeout, again: k.Again("versions", "get", project+"/"+version, "--wait")}
}

// waitReady follows a deploy to its end, showing each step.
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
		return v, err
	default:
		return v, w.late(bounded, err)
	}
}

// showSteps prints the steps after the first told ones, and the current step.
// Polls are rarer than steps, so durations are those of the server. A failed step
// is printed with the error.
func showSteps(p *kit.Progress, v api.Version, told int) int {
	if len(v.Timeline) == 0 && v.Status == api.VersionStatusPending {
		p.Stage(string(v.Status))
	}
	for ; told < len(v.Timeline); told++ {
		step := v.Timeline[told]
		switch {
		case step.EndedAt == nil:
			p.Stage(kit.Clean(step.Step))
			p.Remark(kit.Clean(step.Detail))
			return told
		case step.Status == api.StepStatusDone:
			p.Past(kit.Clean(step.Step), step.EndedAt.Sub(step.StartedAt.Time))
		}
	}
	return told
}

// asBuilt leaves the places of a worker whose sources are not here.
func asBuilt(text string) string { return text }

// showLogs prints the last lines of a failed version's worker, if there are any:
// those of its log, which the admin token may read, else those of its record. inSources
// replaces places of the built worker.
func showLogs(ctx context.Context, k *kit.Kit, c *client.Client, v api.Version, inSources func(string) string) {
	lines, err := c.Logs(ctx, v.ProjectID, v.ID, 20)
	switch {
	case err == nil && len(lines) > 0:
		k.Notef("final output of the worker:")
	case err != nil && v.ErrorOutput != "":
		k.Notef("final output of the worker:\n%s", kit.Clean(inSources(v.ErrorOutput)))
	}
	for _, l := range lines {
		at := ""
		if !l.Time.IsZero() { // what is printed while a worker loads has no time
			at = l.Time.Format(time.TimeOnly)
		}
		k.Notef("  %-8s %-5s %s", at, l.Level, kit.Clean(inSources(l.Message)))
	}
}

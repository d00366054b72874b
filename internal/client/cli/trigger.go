package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

func newTrigger(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "trigger", Short: "Send an event to the worker of a version", RunE: serveHelp}
	cmd.AddCommand(newTriggerScheduled(k))
	return cmd
}

type triggerScheduled struct {
	project string
	cron    string
	time    string
	timeout time.Duration
}

func (o *triggerScheduled) flags(cmd *cobra.Command) {
	projectFlag(cmd, &o.project)
	cmd.Flags().StringVar(&o.cron, "cron", "", "cron expression that the handler sees")
	cmd.Flags().StringVar(&o.time, "time", "", "time when the run was due, as RFC 3339 (default: now)")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 15*time.Minute, "time limit of the run")
}

func newTriggerScheduled(k *kit.Kit) *cobra.Command {
	var o triggerScheduled
	cmd := &cobra.Command{
		Use: "scheduled [PROJECT/]VERSION", Short: "Run the scheduled handler of a version once", Args: cobra.ExactArgs(1),
		Long: "Calls the scheduled() handler of a version's worker once, waits for its end, and prints what the worker logged and how the " +
			"run ended. No cron expression needs to be due, and the version need not be production. Ctrl-C ends the run. Exit code 1 " +
			"means that the handler threw or did not finish, 124 that it reached --timeout.",
		Example: "  svcctl trigger scheduled guestbook/v-20261121093000 --cron '*/5 * * * *'",
		RunE:    func(cmd *cobra.Command, args []string) error { return runScheduled(cmd.Context(), k, o, args[0]) },
	}
	o.flags(cmd)
	return cmd
}

func runScheduled(ctx context.Context, k *kit.Kit, o triggerScheduled, arg string) error {
	body, err := o.body()
	if err != nil {
		return err
	}
	c, project, id, err := versionAt(k, arg, o.project)
	if err != nil {
		return err
	}
	progress := k.NewProgress()
	defer progress.Abort()
	progress.Stage("running the scheduled handler of " + id)
	run, err := c.TriggerScheduled(ctx, project, id, body)
	if err != nil {
		return err
	}
	progress.Abort()
	what := fmt.Sprintf("scheduled handler of %s/%s", project, id)
	if err := k.Print(run, func() { printRun(k, what, run) }); err != nil {
		return err
	}
	return runError(what, run, o.timeout)
}

// body is the request that the flags mean.
func (o *triggerScheduled) body() (api.TriggerScheduled, error) {
	body := api.TriggerScheduled{Cron: o.cron, TimeoutMs: int(o.timeout.Milliseconds())}
	if body.TimeoutMs <= 0 {
		return body, kit.Usagef("--timeout must be at least 1ms")
	}
	if o.time != "" {
		at, err := time.Parse(time.RFC3339, o.time)
		if err != nil {
			return body, kit.Usagef("--time %q is not a time such as 2026-11-22T09:30:00Z", o.time)
		}
		due := api.At(at)
		body.ScheduledTime = &due
	}
	return body, nil
}

// printRun prints the log of a run, and its outcome.
func printRun(k *kit.Kit, what string, run api.ScheduledRun) {
	for _, l := range run.Logs {
		k.Printf("%s %-5s %s", l.Time.Format(time.TimeOnly), l.Level, strings.ReplaceAll(kit.Clean(l.Message), "\n", "\n  "))
	}
	if run.LogsDropped > 0 {
		k.Printf("(%d more lines)", run.LogsDropped)
	}
	k.Printf("%s: %s after %s", what, run.Outcome, time.Duration(run.DurationMs)*time.Millisecond)
}

// runError is nil for a run that ended well.
func runError(what string, run api.ScheduledRun, timeout time.Duration) error {
	reason := string(run.Outcome)
	if run.Error != nil {
		reason = strings.TrimPrefix(run.Error.Name+": "+run.Error.Message, ": ")
	}
	switch run.Outcome {
	case api.EventOutcomeOK:
		return nil
	case api.EventOutcomeTimeout:
		return &kit.TimeoutError{Text: fmt.Sprintf("%s: ended after %s (--timeout)", what, timeout)}
	case api.EventOutcomeException:
		return svc.Errorf(svc.Unprocessable, svc.CodeEventFailed, "%s threw %s", what, reason)
	case api.EventOutcomeCanceled, api.EventOutcomeExited:
	}
	return svc.Errorf(svc.Unprocessable, svc.CodeEventFailed, "%s: %s", what, reason)
}

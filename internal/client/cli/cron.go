package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newCron(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "cron", Short: "Look at the cron runs of a version", RunE: serveHelp}
	cmd.AddCommand(newCronList(k))
	return cmd
}

type cronList struct {
	project string
	limit   int
}

func newCronList(k *kit.Kit) *cobra.Command {
	var o cronList
	cmd := &cobra.Command{
		Use: "list [PROJECT/]VERSION", Aliases: []string{"ls"}, Short: "List the next and the last cron runs", Args: cobra.ExactArgs(1),
		Long: "Prints the cron expressions of a version with the time of their next run, in UTC, then the last runs with their outcome, newest " +
			"first. Only production runs its crons, or every ready version while the project has no production.",
		Example: "  svcctl cron list guestbook/v-20261121093000",
		RunE:    func(cmd *cobra.Command, args []string) error { return listCrons(cmd.Context(), k, o, args[0]) },
	}
	projectFlag(cmd, &o.project)
	cmd.Flags().IntVar(&o.limit, "limit", 20, "maximum number of last runs")
	return cmd
}

// shownCrons is what the command prints as JSON.
type shownCrons struct {
	api.CronList

	Runs []api.CronRun `json:"runs"`
}

func listCrons(ctx context.Context, k *kit.Kit, o cronList, arg string) error {
	if o.limit < 1 || o.limit > 1000 {
		return kit.Usagef("--limit must be from 1 to 1000")
	}
	c, project, id, err := versionAt(k, arg, o.project)
	if err != nil {
		return err
	}
	list, err := c.Crons(ctx, project, id)
	if err != nil {
		return err
	}
	runs, err := c.CronRuns(ctx, project, id, client.Page{Limit: o.limit})
	if err != nil {
		return err
	}
	return k.Print(shownCrons{list, runs.Items}, func() { printCrons(k, list, runs.Items) })
}

func printCrons(k *kit.Kit, list api.CronList, runs []api.CronRun) {
	var crons [][]string
	for _, c := range list.Items {
		next := "not armed"
		if len(c.NextRuns) > 0 {
			next = minute(c.NextRuns[0])
		}
		crons = append(crons, []string{c.Cron, next})
	}
	k.Table([]string{"CRON", "NEXT RUN"}, crons)
	if len(runs) == 0 {
		return
	}
	k.Printf("")
	var last [][]string
	for _, r := range runs {
		took := ""
		if r.DurationMs != nil {
			took = (time.Duration(*r.DurationMs) * time.Millisecond).String()
		}
		outcome := r.Outcome
		if r.Retry {
			outcome += " (retry)"
		}
		last = append(last, []string{minute(r.ScheduledTime), r.Cron, outcome, took, kit.Clean(r.Error)})
	}
	k.Table([]string{"RUN", "CRON", "OUTCOME", "TOOK", "ERROR"}, last)
}

func minute(t api.Time) string { return fmt.Sprint(t.UTC().Format("2006-01-02 15:04"), " UTC") }

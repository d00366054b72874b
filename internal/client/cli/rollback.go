package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/client"
)

type rollbackOptions struct {
	promoteOptions

	keep    bool
	restore bool
	force   bool
}

func newRollback(k *kit.Kit) *cobra.Command {
	var o rollbackOptions
	cmd := &cobra.Command{
		Use: "rollback [[PROJECT/]VERSION]", Short: "Go back to the version that was production before", Args: cobra.MaximumNArgs(1),
		Long: "Goes back to the version that was production before, or to an earlier one that is named. A second rollback goes further back, never to\n" +
			"the version that the first one left. After a release there are two ways:\n\n" +
			"  --keep-data     releases the earlier code on today's data. No write is lost. It is refused (schema_moved) if a migration was applied since,\n" +
			"                  unless the migration is marked compatible; --force releases all the same.\n" +
			"  --restore-data  promotes the earlier version with its data as it was before the release. What was written since stays behind.\n\n" +
			"Without one of them a terminal is asked, and a script fails with exit code 2. After a promote, rollback promotes the earlier version: what\n" +
			"was written to the version now left is not carried over; --keep-data works there, too. --plan shows what would stay behind.\n" + dataGuide,
		Example: "  svcctl rollback --plan\n  svcctl rollback --keep-data -m 'v8 is too slow'\n  svcctl rollback v6 --restore-data --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			return rollback(cmd.Context(), k, o, strings.Join(args, ""))
		},
	}
	o.sharedFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.keep, "keep-data", false, "release the earlier code on the data of production")
	f.BoolVar(&o.restore, "restore-data", false, "promote the earlier version with its data of then")
	f.BoolVar(&o.force, "force", false, "with --keep-data: release although migrations were applied since")
	f.BoolVar(&o.plan, "plan", false, "show where the rollback leads and what would stay behind, and change nothing")
	f.BoolVarP(&o.yes, "yes", "y", false, "skip the confirmation prompt")
	return cmd
}

func rollback(ctx context.Context, k *kit.Kit, o rollbackOptions, arg string) error {
	switch {
	case o.keep && o.restore:
		return kit.Usagef("--keep-data and --restore-data exclude each other")
	case o.force && !o.keep:
		return kit.Usagef("--force is for --keep-data")
	}
	project, id, err := versionOf(k, arg, o.project)
	if err != nil {
		return err
	}
	c, err := k.Client()
	if err != nil {
		return err
	}
	to, err := c.RollbackTarget(ctx, project)
	if errors.Is(err, client.ErrNoPrevious) {
		return fmt.Errorf("%w: use svcctl promote VERSION", err)
	}
	if err != nil {
		return err
	}
	if id != "" && !slices.Contains(to.Earlier, id) {
		return kit.Usagef("%s was not production before %s, or a rollback left it: go forward with svcctl release %s/%s or svcctl promote %[3]s/%[1]s", id, to.Production, project, id)
	}
	to.Version = cmp.Or(id, to.Version)
	o.reason = strings.TrimSuffix(client.RollbackReason+": "+o.reason, ": ")
	r := goingBack{k: k, c: c, o: o, project: project, to: to}
	if o.plan {
		return r.plan(ctx)
	}
	return r.run(ctx)
}

// goingBack is one rollback.
type goingBack struct {
	k       *kit.Kit
	c       *client.Client
	o       rollbackOptions
	project string
	to      client.Rollback
	shown   bool // what stays behind was shown
}

// run goes the way that the flags or the person choose.
func (r goingBack) run(ctx context.Context) error {
	if !r.o.keep && !r.o.restore && r.to.Released {
		if err := r.choose(ctx); err != nil {
			return err
		}
	}
	if r.o.keep {
		return r.keepData(ctx)
	}
	return r.restoreData(ctx)
}

// choose asks which data the earlier code shall have.
func (r *goingBack) choose(ctx context.Context) error {
	if r.k.CanAsk() {
		r.showPlans(ctx, aside(r.k))
	}
	answer, err := r.k.Choose(ctx, fmt.Sprintf("%s was released on the data of %s: keep today's data, or restore that of before %[1]s?", r.to.Production, r.to.Version),
		[]string{"keep", "restore"}, "--keep-data or --restore-data")
	r.o.keep, r.o.restore, r.o.yes, r.shown = answer == "keep", answer == "restore", true, true
	return err
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/unmerged"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

type promoteOptions struct {
	project string
	reason  string
	timeout time.Duration
	plan    bool
	yes     bool
	leave   bool    // the caller accepts that writes of production stay behind
	asked   *string // production when the plan was read; nil without a plan
}

func (o *promoteOptions) flags(cmd *cobra.Command) {
	o.sharedFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.plan, "plan", false, "show what production wrote that the version lacks, and promote nothing")
	f.BoolVar(&o.leave, "leave-writes", false, "accept that writes of production that the version lacks stay behind")
	f.BoolVarP(&o.yes, "yes", "y", false, "skip the confirmation prompt (includes --leave-writes)")
}

// sharedFlags are those that svcctl rollback has, too.
func (o *promoteOptions) sharedFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.project, "project", "p", "", "project (default: the worker directory's)")
	f.StringVarP(&o.reason, "message", "m", "", "reason, stored with the promotion")
	f.DurationVar(&o.timeout, "timeout", time.Minute, "time limit for waiting; the promote continues after it")
}

func newPromote(k *kit.Kit) *cobra.Command {
	var o promoteOptions
	cmd := &cobra.Command{
		Use: "promote [PROJECT/]VERSION", Short: "Make a ready version the production of its project", Args: cobra.MaximumNArgs(1),
		Long: "Makes exactly this version the production of its project, with its own data. Nothing is merged: what production wrote since the version was\n" +
			"forked stays in the old production. svcctl release puts the code of the version on the data of production instead, so that no write is lost.\n" +
			"If writes would stay behind, promote shows them and asks; a script needs --leave-writes or --yes, else the exit code is 9.\n" + dataGuide,
		Example: "  svcctl promote v-20261121093000 --project guestbook\n  svcctl promote v2 --plan\n  svcctl promote v2 --leave-writes",
		RunE: func(cmd *cobra.Command, args []string) error {
			return promoteNamed(cmd.Context(), k, o, args)
		},
	}
	o.flags(cmd)
	return cmd
}

// promoteNamed promotes the version that the argument names. Without one a person chooses.
func promoteNamed(ctx context.Context, k *kit.Kit, o promoteOptions, args []string) error {
	if len(args) == 0 {
		chosen, err := chooseVersion(ctx, k, o.project, promotable)
		if err != nil {
			return err
		}
		if chosen == "" {
			return unnamed(ctx, k, o.project)
		}
		args = []string{chosen}
	}
	c, project, id, err := versionAt(k, args[0], o.project)
	if err != nil {
		return err
	}
	if o.plan {
		return printPlan(ctx, k, c, project, id)
	}
	if err := o.consent(ctx, k, c, project, id); err != nil {
		return err
	}
	return promoteAndPrint(ctx, k, c, o, api.Version{ProjectID: project, ID: id})
}

func promoteAndPrint(ctx context.Context, k *kit.Kit, c *client.Client, o promoteOptions, v api.Version) error {
	p, err := promote(ctx, k, c, o, v)
	if err != nil {
		return err
	}
	noteLeft(k, p)
	return k.Print(p, func() {
		if p.Status == api.PromotionStatusUnchanged {
			k.Printf("%s is already production at %s", p.VersionID, kit.Clean(p.ProdURL))
			return
		}
		k.Printf("%s is production at %s (was %s)", p.VersionID, kit.Clean(p.ProdURL), cmp.Or(p.PreviousVersionID, "none"))
	})
}

// promoted is the answer to a promote, with its final status and what it left behind.
type promoted struct {
	api.PromotionAccepted
	Unmerged *api.Unmerged    `json:"unmerged"`
	Waiting  *api.WaitingWork `json:"waiting"`
	Rescue   string           `json:"rescue,omitempty"` // the command that exports what was left behind
}

// promote starts the saga, waits for its end and gives the accepted answer with
// the final status.
func promote(ctx context.Context, k *kit.Kit, c *client.Client, o promoteOptions, v api.Version) (promoted, error) {
	progress := k.NewProgress()
	progress.Stage("promoting " + v.ID)
	defer progress.Abort()
	answer, err := c.Promote(ctx, v.ProjectID, v.ID, api.PromoteVersion{Reason: o.reason, LeaveWrites: o.yes || o.leave, ExpectedProdVersionID: o.asked})
	accepted := promoted{PromotionAccepted: answer}
	if client.CodeOf(err) == svc.CodePromoteLeaves {
		p, _ := c.Project(ctx, v.ProjectID) // without it the text has no id of production
		return accepted, &kit.LeavesError{Text: err.Error() + "\n" + waysToPromote(v.ProjectID, v.ID, p.ProdVersionID), Cause: err}
	}
	if err != nil || accepted.Status == api.PromotionStatusUnchanged {
		return accepted, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	done, err := c.WaitPromotion(ctx, v.ProjectID, accepted.OperationID)
	if errors.Is(err, context.DeadlineExceeded) {
		return accepted, &kit.TimeoutError{Text: "the promote is still running: look at " + accepted.PollURL}
	}
	if err != nil {
		return accepted, err
	}
	progress.Done("")
	accepted.Status, accepted.Unmerged, accepted.Waiting = done.Status, done.Unmerged, done.Waiting
	if unmerged.Left(done.Unmerged) {
		accepted.Rescue = unmerged.Rescue(v.ProjectID, accepted.PreviousVersionID)
	}
	return accepted, nil
}

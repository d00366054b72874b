package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/unmerged"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// printReleasePlan shows what a release would do.
func printReleasePlan(ctx context.Context, k *kit.Kit, c *client.Client, project, id string) error {
	p, err := c.ReleasePlan(ctx, project, id)
	if err != nil {
		return err
	}
	return k.Print(p, func() { showReleasePlan(k, p) })
}

func showReleasePlan(k *kit.Kit, p api.ReleasePlan) {
	k.Printf("a release would put the code of %s on the data of %s, production of %s", p.VersionID, cmp.Or(p.ProductionVersionID, "none"), p.ProjectID)
	if p.Blocked != "" {
		k.Printf("  blocked     %s", kit.Clean(p.Blocked))
	}
	k.Printf("  hold        %s expected, %s at most", holdOf(p.ExpectedHoldMs), holdOf(p.MaxHoldMs))
	k.Printf("  migrations  %s", cmp.Or(kit.Clean(strings.Join(p.Migrations, ", ")), "none"))
	if p.Waiting != (api.WaitingWork{}) {
		k.Printf("  moves       %s of %s", workOf(p.Waiting), p.ProductionVersionID)
	}
	k.Printf("  lost        0 writes of %s", cmp.Or(p.ProductionVersionID, "production"))
	showOwn(k, p)
}

// showOwn shows what the candidate wrote itself, which a release does not take along.
func showOwn(k *kit.Kit, p api.ReleasePlan) {
	if p.Own.Reason != api.UnmergedReasonEmpty {
		k.Printf("the data of %s stays in %[1]s: no common cut with %s", p.VersionID, cmp.Or(p.ProductionVersionID, "production"))
		return
	}
	if len(unmerged.Rows(p.Own)) == 0 {
		return
	}
	k.Printf("%s wrote itself, and keeps for itself:", p.VersionID)
	k.Table([]string{"OWN", "NEW", "CHANGED", "DELETED"}, unmergedRows(p.Own))
}

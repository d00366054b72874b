package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/unmerged"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// dataGuide ends the help of the commands that change production.
const (
	guide     = "docs/guide/release.md (Release and roll back)"
	dataGuide = "Guide: " + guide + "."
	guideHint = "guide: " + guide // ends a warning
)

// namedVersions is how many versions are named when the command line names none.
const namedVersions = 10

// unnamed asks for a version, and names those that could be promoted if the server says them.
func unnamed(ctx context.Context, k *kit.Kit, project string) error {
	const ask = "name a version: svcctl promote [PROJECT/]VERSION"
	c, project, err := projectAt(k, project)
	if err != nil {
		return kit.Usagef("%s", ask)
	}
	page, _ := c.Versions(ctx, project, api.VersionStatusReady, client.Page{Limit: namedVersions})
	var names []string
	for _, v := range page.Items {
		if promotable(v) {
			names = append(names, v.ID)
		}
	}
	if len(names) == 0 {
		return kit.Usagef("%s", ask)
	}
	return kit.Usagef("%s\nready now, newest first: %s", ask, strings.Join(names, ", "))
}

// consent asks before a promote that leaves writes of production behind. Without a terminal the
// result is a *kit.LeavesError. It asks nothing if nothing stays behind, or with --yes.
func (o *promoteOptions) consent(ctx context.Context, k *kit.Kit, c *client.Client, project, id string) error {
	if o.yes || o.leave {
		return nil
	}
	p, err := c.PromotionPlan(ctx, project, id)
	if err != nil {
		return err
	}
	if p.Status != api.VersionStatusReady || p.ProductionVersionID == id {
		return nil // the server says what is wrong
	}
	o.asked = &p.ProductionVersionID
	if !unmerged.Left(p.Unmerged) {
		return nil
	}
	showPlan(aside(k), p)
	if !k.CanAsk() {
		return &kit.LeavesError{Text: fmt.Sprintf("the promote would leave writes of production %s behind\n%s", p.ProductionVersionID, waysToPromote(project, id, p.ProductionVersionID))}
	}
	k.Notef("%s", keepsThem(project, id))
	if err := k.Confirm(ctx, "the promote leaves these writes in "+p.ProductionVersionID, id, "--yes"); err != nil {
		return err
	}
	o.leave = true
	return nil
}

func keepsThem(project, id string) string {
	return fmt.Sprintf("to keep them: svcctl release %s/%s (the code of %s on the data of production)", project, id, id)
}

// waysToPromote names what to do instead of a promote that leaves writes of old behind, and how to
// do it all the same.
func waysToPromote(project, id, old string) string {
	return keepsThem(project, id) + fmt.Sprintf("\nto leave them: --leave-writes, then %s\n%s", unmerged.Rescue(project, cmp.Or(old, "OLD")), guideHint)
}

// aside is k with its data on stderr: what a person reads before a question, beside the document
// that stdout gets.
func aside(k *kit.Kit) *kit.Kit {
	a := *k
	a.Out, a.OutTTY = k.Err, k.ErrTTY
	return &a
}

package cli

import (
	"context"
	"strings"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/unmerged"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// printPlan shows what a promote would leave behind.
func printPlan(ctx context.Context, k *kit.Kit, c *client.Client, project, id string) error {
	p, err := c.PromotionPlan(ctx, project, id)
	if err != nil {
		return err
	}
	return k.Print(p, func() {
		showPlan(k, p)
		if unmerged.Left(p.Unmerged) {
			k.Notef("%s", keepsThem(p.ProjectID, p.VersionID))
		}
	})
}

func showPlan(k *kit.Kit, p api.PromotionPlan) {
	switch p.ProductionVersionID {
	case "":
		k.Printf("%s would be the first production of %s", p.VersionID, p.ProjectID)
	case p.VersionID:
		k.Printf("%s is production of %s already", p.VersionID, p.ProjectID)
	default:
		k.Printf("%s would replace %s as production of %s", p.VersionID, p.ProductionVersionID, p.ProjectID)
	}
	if p.Status != api.VersionStatusReady {
		k.Printf("%s is %s: only a ready version can be promoted", p.VersionID, p.Status)
	}
	printLeft(k, p.Unmerged, p.Waiting, p.ProductionVersionID, p.VersionID)
}

// printLeft shows what old has that the version lacks, and its work; nil is not counted.
func printLeft(k *kit.Kit, u *api.Unmerged, w *api.WaitingWork, old, version string) {
	if u != nil {
		k.Printf("%s", unmerged.Cut(*u, old, version))
		if rows := unmergedRows(*u); len(rows) > 0 {
			k.Table([]string{"UNMERGED", "NEW", "CHANGED", "DELETED"}, rows)
		}
	}
	if w != nil && *w != (api.WaitingWork{}) {
		k.Printf("%s stay with %s, which continues with them", workOf(*w), old)
	}
}

// unmergedRows are the lines of the table.
func unmergedRows(u api.Unmerged) (rows [][]string) {
	for _, r := range unmerged.Rows(u) {
		rows = append(rows, []string{kit.Clean(r.What), unmerged.Count(r.Inserted, r.WrittenRecords), unmerged.Count(r.Updated, r.WrittenRecords), unmerged.Count(r.Deleted, r.WrittenRecords)})
	}
	return rows
}

// noteLeft says in one line what a promote left behind, and how to get it.
func noteLeft(k *kit.Kit, p promoted) {
	if unmerged.Left(p.Unmerged) {
		var parts []string
		for _, row := range unmergedRows(*p.Unmerged) {
			parts = append(parts, row[0])
		}
		if len(parts) > 0 {
			k.Notef("%s wrote what %s lacks: %s; svcctl promotions get %s counts them", p.PreviousVersionID, p.VersionID, strings.Join(parts, ", "), p.OperationID)
		} else {
			k.Notef("%s", unmerged.Cut(*p.Unmerged, p.PreviousVersionID, p.VersionID))
		}
		k.Notef("to export them: %s", p.Rescue)
		k.Notef("%s", guideHint)
	}
	if p.Waiting != nil && *p.Waiting != (api.WaitingWork{}) {
		k.Notef("%s stay with %s, which continues with them", workOf(*p.Waiting), p.PreviousVersionID)
	}
}

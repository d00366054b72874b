package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/unmerged"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newD1Diff(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff [PROJECT/]VERSION [OTHER]", Short: "Count the rows that two versions wrote since their data began to differ", Args: cobra.RangeArgs(1, 2),
		Long: "Counts, by table of each database, the new, changed and deleted rows of a version since its data and that of another version, by default its\n" +
			"parent, began to differ, and those of the other version. A row that both wrote alike counts on both sides. The cost grows with what was\n" +
			"written, not with the data. For the rows themselves: svcctl data diff.",
		Example: "  svcctl d1 diff shop/pr-7\n  svcctl d1 diff pr-7 pr-8 -o json\n  diff <(svcctl d1 export staging) <(svcctl d1 export pr-7)",
	}
	cmd.ValidArgsFunction = arguments(versionNames(k), versionNames(k))
	return onVersion(k, cmd, func(ctx context.Context, v atVersion, args []string) error { return diffRows(ctx, k, v, args) })
}

func diffRows(ctx context.Context, k *kit.Kit, v atVersion, args []string) (err error) {
	var other string
	if len(args) > 0 {
		_, other, err = splitRef(args[0], v.project)
	} else {
		other, err = otherThan(ctx, v.Client, v.project, v.version)
	}
	if err != nil {
		return err
	}
	d, err := v.CompareData(ctx, v.project, v.version, other)
	if err != nil {
		return err
	}
	return k.Print(d, func() { printDiff(k, d) })
}

// otherThan is the parent of a version, to compare with.
func otherThan(ctx context.Context, c *client.Client, project, id string) (string, error) {
	v, err := c.Version(ctx, project, id)
	if err != nil {
		return "", err
	}
	if v.ParentVersionID == nil {
		return "", kit.Usagef("%s has no parent: name the version to compare with (svcctl d1 diff %s/%s OTHER)", id, project, id)
	}
	return *v.ParentVersionID, nil
}

func printDiff(k *kit.Kit, d api.DataComparison) {
	from, to := d.From.VersionID, d.To.VersionID
	if d.From.Written.Reason != api.UnmergedReasonEmpty {
		k.Printf("%s", unmerged.Cut(d.From.Written, from, to))
		return
	}
	rows := slices.Concat(diffed(from, d.From.Written), diffed(to, d.To.Written))
	since := "their data began to differ"
	if at := d.From.Written.ForkedAt; at != nil {
		since = "the fork at " + at.UTC().Format(time.RFC3339)
	}
	if len(rows) == 0 {
		k.Printf("%s and %s wrote no rows since %s", from, to, since)
		return
	}
	k.Printf("rows written since %s:", since)
	k.Table([]string{"VERSION", "DATABASE", "TABLE", "NEW", "CHANGED", "DELETED"}, rows)
}

// diffed are the lines of one version.
func diffed(version string, u api.Unmerged) (rows [][]string) {
	if u.Reason != api.UnmergedReasonEmpty {
		return [][]string{{version, fmt.Sprintf("not compared (%s)", u.Reason), "-", "-", "-", "-"}}
	}
	for _, t := range u.Tables {
		w := api.WrittenRecords{AtLeast: t.AtLeast}
		name := kit.Clean(t.Table)
		name = cmp.Or(name, "not compared in time")
		rows = append(rows, []string{version, kit.Clean(t.Database), name, unmerged.Count(t.Inserted, w), unmerged.Count(t.Updated, w), unmerged.Count(t.Deleted, w)})
	}
	return rows
}

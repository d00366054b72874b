package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

func newVersionsTree(k *kit.Kit) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use: "tree", Short: "Show the versions of a project as a tree, with the sizes of their data", Args: cobra.NoArgs,
		Long: "Shows each version below the version that its data began with. OWN is what the version wrote and needs, EXCLUSIVE the part of it " +
			"that no other version needs: what destroying the version frees. SHARED was written by other versions and is needed by this one. " +
			"KEPT was written by this one and is needed by others only. Sizes are at most 30 seconds old.",
		RunE: func(cmd *cobra.Command, _ []string) error { return versionTree(cmd.Context(), k, project) },
	}
	projectFlag(cmd, &project)
	return cmd
}

func versionTree(ctx context.Context, k *kit.Kit, project string) error {
	c, project, err := projectAt(k, project)
	if err != nil {
		return err
	}
	tree, err := c.Branches(ctx, project)
	if err != nil {
		return err
	}
	return k.Print(tree, func() {
		header := []string{"VERSION", "STATUS", "PROD", "PIN", "AGE", "CUT", "OWN", "EXCLUSIVE", "SHARED", "KEPT"}
		k.Table(header, kit.Rows(tree.Items, func(b api.Branch) []string {
			return append([]string{
				strings.Repeat("  ", b.Depth) + b.VersionID, string(b.Status), mark(b.IsProduction), mark(b.Pinned), kit.Age(b.CreatedAt.Time), cmp.Or(b.ForkTXID, "-"),
			}, sizesOf(b)...)
		}))
		noteIncomplete(k, tree.Incomplete)
	})
}

func sizesOf(b api.Branch) []string {
	if b.Sizes == nil {
		return []string{"-", "-", "-", "-"}
	}
	return []string{sum(b.Sizes.Own), sum(b.Sizes.Exclusive), sum(b.Sizes.Shared), sum(b.Sizes.Kept)}
}

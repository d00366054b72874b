package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

func newProjects(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "projects", Short: "List, read, create and change projects", RunE: serveHelp}
	cmd.AddCommand(newProjectsList(k), newProjectsGet(k), newProjectsCreate(k), newProjectsSet(k))
	return cmd
}

func newProjectsList(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List projects, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listProjects(cmd.Context(), k) },
	}
}

func listProjects(ctx context.Context, k *kit.Kit) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	items := []api.Project{}
	for p, err := range c.AllProjects(ctx) {
		if err != nil {
			return err
		}
		items = append(items, p)
	}
	return k.Print(items, func() {
		var rows [][]string
		for _, p := range items {
			rows = append(rows, []string{p.ID, p.ProdVersionID, kit.Age(p.CreatedAt.Time), p.ProdURL})
		}
		k.Table([]string{"PROJECT", "PRODUCTION", "AGE", "URL"}, rows)
	})
}

func newProjectsGet(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "get PROJECT", Short: "Show one project and its newest versions", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return getProject(cmd.Context(), k, args[0]) },
	}
}

func getProject(ctx context.Context, k *kit.Kit, id string) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	p, err := c.ProjectWithVersions(ctx, id, 20)
	if err != nil {
		return err
	}
	return k.Print(p, func() {
		k.Printf("%s: production %s %s", p.ID, orNone(p.ProdVersionID), kit.Clean(p.ProdURL))
		if p.Versions == nil {
			return
		}
		for _, v := range p.Versions.Items {
			k.Printf("  %-24s %-10s %s", v.ID, v.Status, kit.Clean(v.PreviewURL))
		}
	})
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func newProjectsCreate(k *kit.Kit) *cobra.Command {
	var remote string
	cmd := &cobra.Command{
		Use: "create PROJECT", Short: "Create a project", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return createProject(cmd.Context(), k, args[0], remote) },
	}
	cmd.Flags().StringVar(&remote, "git-remote", "", "URL of the git repository")
	return cmd
}

func createProject(ctx context.Context, k *kit.Kit, id, remote string) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	p, err := c.CreateProject(ctx, api.CreateProject{ID: id, GitRemote: remote})
	if err != nil {
		return err
	}
	return k.Print(p, func() { k.Printf("project %s", p.ID) })
}

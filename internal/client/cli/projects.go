package cli

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/pkg/api"
)

func newProjects(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "projects", Short: "List, read, create, change and delete projects", RunE: serveHelp}
	cmd.AddCommand(newProjectsList(k), newProjectsGet(k), newProjectsCreate(k), newProjectsSet(k), newProjectsDelete(k))
	return cmd
}

func newProjectsList(k *kit.Kit) *cobra.Command {
	var summary bool
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List projects, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listProjects(cmd.Context(), k, summary) },
	}
	cmd.Flags().BoolVar(&summary, "summary", false, "also versions, newest deploy, requests of the last 5 minutes and memory")
	return cmd
}

func listProjects(ctx context.Context, k *kit.Kit, summary bool) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	all := c.AllProjects
	if summary {
		all = c.AllProjectSummaries
	}
	items := []api.Project{}
	for p, err := range all(ctx) {
		if err != nil {
			return err
		}
		items = append(items, p)
	}
	return k.Print(items, func() {
		header, rows := []string{"PROJECT", "PRODUCTION", "AGE", "URL"}, [][]string{}
		if summary {
			header = slices.Insert(header, 3, "VERSIONS", "RUNNING", "LAST DEPLOY", "REQUESTS", "5XX", "P95", "MEMORY")
		}
		for _, p := range items {
			row := []string{p.ID, p.ProdVersionID, kit.Age(p.CreatedAt.Time), p.ProdURL}
			if p.Summary != nil {
				row = slices.Insert(row, 3, summaryRow(*p.Summary)...)
			}
			rows = append(rows, row)
		}
		k.Table(header, rows)
	})
}

// showModes shows what restricts a project.
func showModes(k *kit.Kit, p api.Project) {
	if p.Guard {
		k.Printf("  guard      on: a promote that leaves writes behind needs --leave-writes")
	}
	if p.ReadOnly {
		k.Printf("  read-only  on: requests and events may not write")
	}
	if p.History != nil {
		k.Printf("  history    %s", historyText(*p.History))
	}
}

// summaryRow has the columns of a summary.
func summaryRow(s api.ProjectSummary) []string {
	versions := 0
	for _, n := range s.Versions {
		versions += n
	}
	last := "-"
	if d := s.LastDeploy; d != nil {
		last = d.VersionID + " " + string(d.Status) + " " + kit.Age(d.CreatedAt.Time)
	}
	t := s.Traffic
	return []string{
		strconv.Itoa(versions), strconv.Itoa(s.Running), last, strconv.FormatInt(t.Requests, 10), strconv.FormatInt(t.Errors, 10),
		strconv.FormatFloat(t.P95Ms, 'f', 1, 64) + "ms", text.Bytes(s.MemoryBytes),
	}
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
		k.Printf("%s: production %s %s", p.ID, cmp.Or(p.ProdVersionID, "none"), kit.Clean(p.ProdURL))
		showModes(k, p)
		if p.Versions == nil {
			return
		}
		for _, v := range p.Versions.Items {
			k.Printf("  %-24s %-10s %s", v.ID, v.Status, kit.Clean(v.PreviewURL))
		}
	})
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

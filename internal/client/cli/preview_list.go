package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/browser"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newPreviewList(k *kit.Kit) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the previews of a project", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listPreviews(cmd.Context(), k, project) },
	}
	projectFlag(cmd, &project)
	return cmd
}

func listPreviews(ctx context.Context, k *kit.Kit, project string) error {
	c, project, err := projectAt(k, project)
	if err != nil {
		return err
	}
	l, err := collect(c.AllPreviews(ctx, project), 0)
	if err != nil {
		return err
	}
	return kit.PrintList(k, l.items, []string{"PREVIEW", "STATUS", "VERSION", "VERSIONS", "AGE", "REF", "URL"}, func(p api.Preview) []string {
		return []string{p.Name, previewStatus(p), cmp.Or(p.VersionID, "-"), strconv.Itoa(p.Versions), kit.Age(p.UpdatedAt.Time), cmp.Or(p.GitRef, "-"), p.URL}
	})
}

// previewStatus is the status of the version that is served, and of a newer one.
func previewStatus(p api.Preview) string {
	if p.NewestVersionID == p.VersionID {
		return p.Status
	}
	if p.VersionID == "" {
		return string(p.NewestStatus)
	}
	return fmt.Sprintf("%s (newest %s)", p.Status, p.NewestStatus)
}

func newPreviewOpen(k *kit.Kit) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use: "open [[PROJECT/]NAME]", Short: "Open a preview in the browser", Args: cobra.MaximumNArgs(1), ValidArgsFunction: arguments(previewNames(k)),
		Long: "Opens the address of a preview in the browser, and prints it. Without NAME it is the preview of the git branch.",
		RunE: func(cmd *cobra.Command, args []string) error { return openPreview(cmd.Context(), k, args, project) },
	}
	projectFlag(cmd, &project)
	return cmd
}

func openPreview(ctx context.Context, k *kit.Kit, args []string, project string) error {
	_, p, err := readPreview(ctx, k, args, project)
	if err != nil {
		return err
	}
	if err := k.Print(map[string]string{"url": p.URL}, func() { k.Printf("%s", kit.Clean(p.URL)) }); err != nil {
		return err
	}
	return browser.Open(ctx, k.Environ, p.URL)
}

func readPreview(ctx context.Context, k *kit.Kit, args []string, named string) (*client.Client, api.Preview, error) {
	project, name, err := previewOf(ctx, k, args, named)
	if err != nil {
		return nil, api.Preview{}, err
	}
	c, err := k.Client()
	if err != nil {
		return nil, api.Preview{}, err
	}
	p, err := c.Preview(ctx, project, name)
	return c, p, err
}

type previewDelete struct {
	project      string
	yes, missing bool
}

func newPreviewDelete(k *kit.Kit) *cobra.Command {
	var o previewDelete
	cmd := &cobra.Command{
		Use: "delete [PROJECT/]NAME", Short: "Destroy every version of a preview, with its data", Args: cobra.ExactArgs(1), ValidArgsFunction: arguments(previewNames(k)),
		Long: "Destroys every version of a preview with data, logs and bundles. Other versions that branched from them keep their data. On a terminal it\n" +
			"asks for the name; use --yes when there is no terminal.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return deletePreview(cmd.Context(), k, o, args[0])
		},
	}
	projectFlag(cmd, &o.project)
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "no prompt")
	cmd.Flags().BoolVar(&o.missing, "if-exists", false, "success if there is no such preview")
	return cmd
}

func deletePreview(ctx context.Context, k *kit.Kit, o previewDelete, arg string) error {
	c, p, err := readPreview(ctx, k, []string{arg}, o.project)
	if code := client.CodeOf(err); o.missing && (code == svc.CodePreviewNotFound || code == svc.CodeProjectNotFound) {
		k.Notef("there is no preview %s", arg)
		return nil
	}
	if err != nil {
		return err
	}
	if !o.yes {
		what := fmt.Sprintf("this destroys preview %s of %s: %d versions with their data", p.Name, p.ProjectID, p.Versions)
		if err := k.Confirm(ctx, what, p.Name, "--yes"); err != nil {
			return err
		}
	}
	if p, err = c.DeletePreview(ctx, p.ProjectID, p.Name); err != nil {
		return err
	}
	return k.Print(p, func() { k.Printf("preview %s of %s is deleted (%d versions)", p.Name, p.ProjectID, p.Versions) })
}

// previewNames completes the names of previews.
func previewNames(k *kit.Kit) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		c, project, err := projectAt(k, cmd.Flags().Lookup("project").Value.String())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		page, _ := c.Previews(ctx, project, client.Page{}) // nothing is completed after an error
		var found []string
		for _, p := range page.Items {
			found = append(found, cobra.CompletionWithDesc(p.Name, previewStatus(p)))
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

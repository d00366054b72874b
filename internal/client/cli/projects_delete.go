package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

type projectsDelete struct {
	production string
	yes        bool
}

func newProjectsDelete(k *kit.Kit) *cobra.Command {
	var o projectsDelete
	cmd := &cobra.Command{
		Use: "delete PROJECT", Aliases: []string{"rm"}, Short: "Delete a project and destroy all of its versions", Args: cobra.ExactArgs(1),
		Long: "Destroys every version of a project with its data, production and pinned versions included. Prompts for the id of the project; " +
			"use --yes when there is no terminal, with --production if the project has a production version.",
		Example: "  svcctl projects delete shop --production v7 --yes",
		RunE:    func(cmd *cobra.Command, args []string) error { return deleteProject(cmd.Context(), k, o, args[0]) },
	}
	cmd.Flags().StringVar(&o.production, "production", "", "id of the production version, as a confirmation")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "skip the confirmation prompt")
	return cmd
}

func deleteProject(ctx context.Context, k *kit.Kit, o projectsDelete, id string) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	p, err := c.Project(ctx, id)
	if err != nil {
		return err
	}
	if o.yes && o.production != p.ProdVersionID {
		return kit.Usagef("the production version of %s is %s: --yes needs --production %s", id, cmp.Or(p.ProdVersionID, "none"), p.ProdVersionID)
	}
	if !o.yes {
		what := "this destroys project " + id + " with all of its versions and their data for good"
		if p.ProdVersionID != "" {
			what += ", production " + p.ProdVersionID + " at " + kit.Clean(p.ProdURL) + " included"
		}
		if err := k.Confirm(ctx, what, id, "--yes"); err != nil {
			return err
		}
	}
	progress := k.NewProgress()
	defer progress.Abort()
	progress.Stage("deleting " + id)
	gone, err := c.DeleteProject(ctx, id, p.ProdVersionID)
	if err != nil {
		return err
	}
	progress.Done("")
	left := 0
	for _, r := range gone.Items {
		if !r.Done {
			left++
		}
	}
	if left > 0 {
		k.Notef("%d versions are not destroyed yet; the server retries", left)
	}
	return k.Print(gone, func() { k.Printf("project %s is deleted: %d versions destroyed", id, len(gone.Items)-left) })
}

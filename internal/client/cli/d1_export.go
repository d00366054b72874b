package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

type d1Export struct{ project, binding, file string }

func newD1Export(k *kit.Kit) *cobra.Command {
	var o d1Export
	cmd := &cobra.Command{
		Use: "export [PROJECT/]VERSION", Short: "Write a database of a version as a script of SQL", Args: cobra.ExactArgs(1),
		Long: "Writes the tables with their rows at one moment, indexes, triggers and views, to standard output or a file. svcctl d1 import, sqlite3\n" +
			"and wrangler read the script. A database with virtual tables cannot be exported.",
		Example: "  svcctl d1 export shop/staging --file staging.sql\n  svcctl d1 export staging | sqlite3 copy.sqlite",
		RunE:    func(cmd *cobra.Command, args []string) error { return exportFrom(cmd.Context(), k, o, args[0]) },
	}
	projectFlag(cmd, &o.project)
	cmd.Flags().StringVar(&o.binding, "binding", "", "binding of the database (default: the only one)")
	cmd.Flags().StringVar(&o.file, "file", "", "file to write (default: standard output)")
	return cmd
}

func exportFrom(ctx context.Context, k *kit.Kit, o d1Export, arg string) error {
	c, project, id, err := versionAt(k, arg, o.project)
	if err != nil {
		return err
	}
	script, err := c.ExportDatabase(ctx, project, id, o.binding)
	if err != nil {
		return err
	}
	defer script.Close()
	if o.file != "" {
		return saveObject(k.Path(o.file), script)
	}
	_, err = io.Copy(k.Out, script)
	return err
}

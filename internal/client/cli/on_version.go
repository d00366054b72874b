package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/client"
)

// atVersion is the version that a command is about, with the client of its server.
type atVersion struct {
	*client.Client

	project, version string
}

// onVersion completes a command whose first argument is a version: run gets the version and
// the other arguments.
func onVersion(k *kit.Kit, cmd *cobra.Command, run func(context.Context, atVersion, []string) error) *cobra.Command {
	var project string
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, project, id, err := versionAt(k, args[0], project)
		if err != nil {
			return err
		}
		return run(cmd.Context(), atVersion{c, project, id}, args[1:])
	}
	projectFlag(cmd, &project)
	return cmd
}

// versionList is a command that prints a table of what a version has.
type versionList[T any] struct {
	short  string
	read   func(*client.Client, context.Context, string, string) ([]T, error)
	header []string
	row    func(T) []string
}

func newVersionList[T any](k *kit.Kit, l versionList[T]) *cobra.Command {
	cmd := &cobra.Command{Use: "list [PROJECT/]VERSION", Aliases: []string{"ls"}, Short: l.short, Args: cobra.ExactArgs(1)}
	return onVersion(k, cmd, func(ctx context.Context, v atVersion, _ []string) error {
		list, err := l.read(v.Client, ctx, v.project, v.version)
		if err != nil {
			return err
		}
		return kit.PrintList(k, list, l.header, l.row)
	})
}

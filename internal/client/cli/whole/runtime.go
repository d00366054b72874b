package whole

import (
	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// Install are the flags of svcctl runtime install.
type Install struct{ Platform, Dir string }

// runtime provisions workerd: install, path, version.
func (r Runs) runtime(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "runtime", Short: "Install and find workerd, which runs the workers",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		r.install(k),
		&cobra.Command{
			Use: "path", Short: "Print the path of the workerd that serve would use", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return r.Path(cmd.Context(), k) },
		},
		&cobra.Command{
			Use: "version", Short: "Print the pinned version of workerd", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return r.Workerd(k) },
		},
	)
	return cmd
}

func (r Runs) install(k *kit.Kit) *cobra.Command {
	var i Install
	cmd := &cobra.Command{
		Use: "install", Short: "Install the pinned workerd unless it is there, and print its path", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.Install(cmd.Context(), k, i) },
	}
	cmd.Flags().StringVar(&i.Platform, "platform", "", "platform to install for, such as linux/arm64 (default: this one); needs --dir")
	cmd.Flags().StringVar(&i.Dir, "dir", "", "directory to install into, as workerd/VERSION/workerd (default: the cache)")
	return cmd
}

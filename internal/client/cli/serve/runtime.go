package serve

import (
	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/host/provision"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/server/daemon"
)

// NewRuntime provisions workerd: install, path, version.
func NewRuntime(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "runtime", Short: "Install and find workerd, which runs the workers",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		runtimeVerb(k, "install", "Install the pinned workerd unless it is there, and print its path", true),
		runtimeVerb(k, "path", "Print the path of the workerd that serve would use", false),
		&cobra.Command{
			Use: "version", Short: "Print the pinned version of workerd", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				return k.Print(map[string]string{"workerd": workerd.Version}, func() { k.Printf("%s", workerd.Version) })
			},
		},
	)
	return cmd
}

func runtimeVerb(k *kit.Kit, name, short string, install bool) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.LoadDaemon(config.Source{Environ: k.Environ})
			if err != nil {
				return kit.Usagef("%v", err)
			}
			progress := k.NewProgress()
			defer progress.Abort()
			find := provision.Find
			if install {
				find = provision.Ensure
			}
			path, err := find(cmd.Context(), daemon.WorkerdOptions(cfg, progress.Stage))
			if err != nil {
				return err
			}
			progress.Done("")
			return k.Print(map[string]string{"path": path, "version": workerd.Version}, func() { k.Printf("%s", path) })
		},
	}
}

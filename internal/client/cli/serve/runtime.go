package serve

import (
	"context"

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
		newInstall(k),
		newPath(k),
		&cobra.Command{
			Use: "version", Short: "Print the pinned version of workerd", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				return k.Print(map[string]string{"workerd": workerd.Version}, func() { k.Printf("%s", workerd.Version) })
			},
		},
	)
	return cmd
}

func newInstall(k *kit.Kit) *cobra.Command {
	var platform, dir string
	cmd := &cobra.Command{
		Use: "install", Short: "Install the pinned workerd unless it is there, and print its path", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return find(cmd.Context(), k, provision.Ensure, func(o *provision.Options) {
				if o.Platform = platform; dir != "" {
					*o = provision.Options{CacheDir: dir, Platform: platform, Progress: o.Progress}
				}
			})
		},
	}
	cmd.Flags().StringVar(&platform, "platform", "", "platform to install for, such as linux/arm64 (default: this one); needs --dir")
	cmd.Flags().StringVar(&dir, "dir", "", "directory to install into, as workerd/VERSION/workerd (default: the cache)")
	return cmd
}

func newPath(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Print the path of the workerd that serve would use", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return find(cmd.Context(), k, provision.Find, func(*provision.Options) {})
		},
	}
}

type finder func(context.Context, provision.Options) (string, error)

func find(ctx context.Context, k *kit.Kit, find finder, change func(*provision.Options)) error {
	cfg, err := config.LoadDaemon(config.Source{Environ: k.Environ})
	if err != nil {
		return kit.Usagef("%v", err)
	}
	progress := k.NewProgress()
	defer progress.Abort()
	o := daemon.WorkerdOptions(cfg, progress.Stage)
	change(&o)
	if o.Platform != "" && o.CacheDir == cfg.Environment.CacheDir {
		return kit.Usagef("--platform needs --dir: the cache has the workerd of this machine")
	}
	path, err := find(ctx, o)
	if err != nil {
		return err
	}
	progress.Done("")
	return k.Print(map[string]string{"path": path, "version": workerd.Version}, func() { k.Printf("%s", path) })
}

package serve

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/cli/tree"
	"github.com/svcctl/svcctl/internal/client/cli/whole"
	"github.com/svcctl/svcctl/internal/data/s3server"
	"github.com/svcctl/svcctl/internal/host/hostmain"
	"github.com/svcctl/svcctl/internal/server/daemon"
)

// Main is svcd.
func Main(ctx context.Context, args []string, k *kit.Kit) int {
	return tree.Execute(ctx, func() *cobra.Command { return NewDaemon(k) }, args, k, nil)
}

// Runs are the commands of this package.
func Runs() whole.Runs {
	return whole.Runs{Serve: serve, Host: runHost, Gateway: runGateway, Install: install, Path: path, Workerd: printWorkerd}
}

// NewDaemon is the whole tree of svcd.
func NewDaemon(k *kit.Kit) *cobra.Command {
	root := tree.NewRoot(k, "svcd", "The control plane of svcctl: API, gateway and the processes of versions")
	root.PersistentFlags().StringVarP(&k.Output, "output", "o", "", "output format: table or json")
	runs := Runs()
	root.AddCommand(runs.Commands(k)...)
	root.AddCommand(newHealth(k), tree.NewVersion(k), newTrialStore(k))
	root.AddCommand(Hidden()...)
	return root
}

// Hidden are the commands that our own processes run as: the host of one
// version, and the embedded object store. They are spoken to over pipes.
func Hidden() []*cobra.Command {
	return []*cobra.Command{
		{
			Use: daemon.HostCommand, Hidden: true, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return hostmain.Run(cmd.Context()) },
		},
		{
			Use: daemon.ObjectStoreCommand, Hidden: true, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				// A Ctrl-C in the terminal reaches the whole group; the daemon decides when its store ends.
				ctx, stop := signal.NotifyContext(context.WithoutCancel(cmd.Context()), syscall.SIGTERM)
				defer stop()
				return s3server.Run(ctx, os.Stdin)
			},
		},
	}
}

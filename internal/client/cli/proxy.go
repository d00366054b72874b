package cli

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/dev"
)

func newProxy(k *kit.Kit) *cobra.Command {
	var project string
	var port int
	cmd := &cobra.Command{
		Use: "proxy [PROJECT/]VERSION", Short: "Serve a version at a local port", Args: cobra.ExactArgs(1),
		Long: "Passes the requests of http://localhost:PORT on to a version, with its host name, until Ctrl-C. Redirects and cookies of the\n" +
			"version are adapted.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return proxyTo(cmd.Context(), k, args[0], project, port)
		},
	}
	projectFlag(cmd, &project)
	cmd.Flags().IntVar(&port, "port", 0, "port on this machine; 0 chooses a free one")
	return cmd
}

func proxyTo(ctx context.Context, k *kit.Kit, arg, project string, port int) error {
	target, err := targetOf(ctx, k, arg, project)
	if err != nil {
		return err
	}
	return dev.Proxy(ctx, target, port, slog.New(slog.DiscardHandler), func(address string) {
		k.Printf("%s leads to %s", address, target.Version)
	})
}

package cli

import (
	"context"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/dev"
	"github.com/svcctl/svcctl/internal/client/dev/local"
)

// devPort is the port of watch mode, as in wrangler.
const devPort = 8787

type devOptions struct {
	build      buildOptions
	port       int
	anyPort    bool
	parent     string
	fresh      bool
	liveReload bool
}

func newDev(k *kit.Kit) *cobra.Command {
	var o devOptions
	cmd := &cobra.Command{
		Use: "dev [SCRIPT|DIR]", Short: "Serve a worker directory and make a version at each save", Args: cobra.MaximumNArgs(1),
		Long: "Runs the whole server in this process, with its data in .svcctl in the worker directory. Each save becomes a version that\n" +
			"begins with the data of the version before, and is served at one stable address. A save that does not build or start\n" +
			"leaves the version before serving. Ctrl-C ends everything; the next start continues with the data.",
		Example: "  svcctl dev\n  svcctl dev ./worker --port 3000 --live-reload\n  svcctl dev --fresh",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.build.path = strings.Join(args, "")
			o.anyPort = !cmd.Flags().Changed("port")
			return watchMode(cmd.Context(), k, o)
		},
	}
	o.build.flags(cmd)
	f := cmd.Flags()
	f.IntVar(&o.port, "port", devPort, "port of the stable address; 0 chooses a free one")
	f.BoolVar(&o.fresh, "fresh", false, "begin without the data of the last session")
	f.BoolVar(&o.liveReload, "live-reload", false, "reload pages in the browser after each save")
	return cmd
}

func watchMode(ctx context.Context, k *kit.Kit, o devOptions) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	req, err := o.build.request(k)
	if err != nil {
		return err
	}
	return dev.Run(ctx, dev.Config{
		Build: req, Port: o.port, AnyPort: o.anyPort, Parent: o.parent, Fresh: o.fresh, LiveReload: o.liveReload,
		Start: func(ctx context.Context, p dev.Place) (*dev.Server, error) {
			return local.Start(ctx, local.Config{Environ: k.Environ, Command: []string{self}, Installing: func(stage string) { k.Notef("workerd: %s", stage) }}, p)
		},
		Out: k.Out, Color: k.Fancy(), Logger: slog.New(slog.DiscardHandler),
	})
}

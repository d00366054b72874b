package cli

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/browser"
	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/dev"
	"github.com/svcctl/svcctl/internal/client/project"
)

// devPort is the port of watch mode, as in wrangler.
const devPort = 8787

// inspectPort is the port for debuggers, as in Node.js.
const inspectPort = 9229

type devOptions struct {
	build      buildOptions
	configs    []string
	port       int
	anyPort    bool
	parent     string
	fresh      bool
	liveReload bool
	inspect    int
	vars       varOptions
}

func newDev(k *kit.Kit, own WatchServer) *cobra.Command {
	var o devOptions
	cmd := &cobra.Command{
		Use: "dev [SCRIPT|DIR]", Short: "Serve a worker directory and make a version at each save", Args: cobra.MaximumNArgs(1),
		Long: "Each save becomes a version that begins with the data of the version before, and is served at one stable address.\n" +
			"A save that does not build or start leaves the version before serving. Without --server (SVCCTL_SERVER), the whole server\n" +
			"runs in this process, with its data in .svcctl in the worker directory. Ctrl-C ends everything; the next start continues\n" +
			"with the data.",
		Example: "  svcctl dev\n  svcctl dev ./worker --port 3000 --live-reload\n  svcctl dev --fresh\n  svcctl dev --inspect\n  svcctl dev -c web/wrangler.jsonc -c api/wrangler.jsonc\n  svcctl dev --server https://deploy.example.com --parent staging",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.build.path = strings.Join(args, "")
			o.anyPort = !cmd.Flags().Changed("port")
			return watchMode(cmd.Context(), k, o, own)
		},
	}
	o.build.flagsWithoutConfig(cmd)
	o.vars.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.build.project, "name", "", "same as --project")
	f.StringArrayVarP(&o.configs, "config", "c", nil, "wrangler config file (default: the nearest one); may be repeated to run several workers")
	f.IntVar(&o.port, "port", devPort, "port of the stable address; 0 chooses a free one")
	f.StringVar(&o.parent, "parent", "", "version to branch the data of the first save from (default: the last save)")
	f.BoolVar(&o.fresh, "fresh", false, "begin without the data of the last session")
	f.IntVar(&o.inspect, "inspect", -1, "let debuggers attach, at a port of this machine; 0 chooses a free one")
	f.Lookup("inspect").NoOptDefVal, f.Lookup("inspect").DefValue = strconv.Itoa(inspectPort), "0" // which help leaves out
	f.BoolVar(&o.liveReload, "live-reload", false, "reload pages in the browser after each save")
	return cmd
}

func watchMode(ctx context.Context, k *kit.Kit, o devOptions, own WatchServer) error {
	if o.fresh && o.parent != "" {
		return kit.Usagef("--fresh and --parent exclude each other")
	}
	vars, err := o.vars.read(k)
	if err != nil {
		return err
	}
	reqs, err := o.requests(k)
	if err != nil {
		return err
	}
	cfg := dev.Config{
		Builds: reqs, Vars: vars, Port: o.port, AnyPort: o.anyPort, Parent: o.parent, Fresh: o.fresh, LiveReload: o.liveReload,
		Inspect: o.inspect >= 0, InspectAt: o.inspect, AnyInspectAt: o.inspect == inspectPort,
		In: k.In, Open: func(ctx context.Context, url string) error { return browser.Open(ctx, k.Environ, url) },
		Out: k.Out, Color: colored(k), Logger: slog.New(slog.DiscardHandler),
	}
	if k.Server != "" || environment(k, "SVCCTL_SERVER") != "" {
		if cfg.Inspect {
			return kit.Usagef("--inspect needs the server that svcctl dev runs itself: the workers of another server have no inspector")
		}
		err = sharedServer(k, &cfg)
	} else {
		err = ownServer(k, &cfg, own)
	}
	if err != nil {
		return err
	}
	return dev.Run(ctx, cfg)
}

// requests are the workers to build: one for each project file.
func (o *devOptions) requests(k *kit.Kit) (list []build.Request, err error) {
	if len(o.configs) == 0 && o.build.project == "" {
		if dir, entry, err := o.build.locate(k); err == nil && entry == "" {
			if o.configs = project.Workers(dir); o.configs != nil {
				o.build.path = "" // the configs are absolute
			}
		}
	}
	if len(o.configs) > 1 && (o.build.path != "" || o.build.project != "" || o.build.assets != "") {
		return nil, kit.Usagef("an argument, --project and --assets are for one worker, and --config names %d", len(o.configs))
	}
	for _, config := range append(o.configs, "")[:max(1, len(o.configs))] {
		one := o.build
		one.missing = append(slices.Clone(one.missing), "services") // a worker may be saved before one that it calls
		one.config = config
		req, err := one.request(k)
		if err != nil {
			return nil, err
		}
		list = append(list, req)
	}
	return list, nil
}

// colored reports whether lines are colored: on a terminal, unless the user or CI
// forbids it.
func colored(k *kit.Kit) bool {
	c, err := k.Config()
	return err == nil && k.OutTTY && k.Fancy() && !c.NoColor
}

// ownServer starts a server in this process.
func ownServer(k *kit.Kit, cfg *dev.Config, own WatchServer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	inspect := cfg.Inspect
	cfg.Start = func(ctx context.Context, p dev.Place) (*dev.Server, error) {
		return own(ctx, k, self, inspect, p)
	}
	return nil
}

// sharedServer uses the configured server.
func sharedServer(k *kit.Kit, cfg *dev.Config) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	u, err := url.Parse(c.Server())
	if err != nil {
		return err
	}
	cfg.Remote = strings.ReplaceAll(u.Host, ":", "-")
	cfg.Start = func(context.Context, dev.Place) (*dev.Server, error) {
		return dev.Remote(c, environment(k, "USER"))
	}
	return nil
}

// environment returns a variable of the command's environment.
func environment(k *kit.Kit, name string) string {
	for _, entry := range slices.Backward(k.Environ) {
		if n, value, _ := strings.Cut(entry, "="); n == name {
			return value
		}
	}
	return ""
}

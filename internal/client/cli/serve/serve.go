package serve

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/server/daemon"
	"github.com/svcctl/svcctl/internal/server/obs"
)

// stopLimit is how long a polite stop may take before it becomes an impolite one.
const stopLimit = 45 * time.Second

// NewServe runs the control plane.
func NewServe(k *kit.Kit) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the control plane: API, gateway and the processes of versions", Args: cobra.NoArgs,
		Long: "Runs until SIGTERM or Ctrl-C, then shuts down gracefully; a second signal exits immediately.\n" +
			"Every setting is an environment variable, a key of the config file and, for the common ones, a flag.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags := map[string]string{}
			cmd.Flags().Visit(func(f *pflag.Flag) { flags[f.Name] = f.Value.String() })
			return serve(cmd.Context(), k, config.Source{Environ: k.Environ, File: file, Flags: flags})
		},
	}
	cmd.Flags().StringVarP(&file, "config", "c", "", "config file (YAML, TOML or JSON)")
	for _, s := range config.DaemonSettings() {
		if s.Flag != "" {
			cmd.Flags().String(s.Flag, s.Default, s.Help+" ("+s.Env+")")
		}
	}
	return cmd
}

func serve(ctx context.Context, k *kit.Kit, src config.Source) error {
	cfg, err := config.LoadDaemon(src)
	if err != nil {
		return kit.Usagef("%v", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	logger := newLogger(k, cfg)
	progress := k.NewProgress()
	d, err := daemon.Start(ctx, daemon.Config{
		Settings: cfg, Command: []string{self}, Logger: logger,
		Installing: func(stage string) { progress.Stage(stage) },
	})
	progress.Done("")
	if err != nil {
		return err
	}
	greet(k, d.Info(), cfg.HostPattern())
	return untilStopped(ctx, k, d)
}

// newLogger writes for eyes on a terminal, else JSON, unless told otherwise.
func newLogger(k *kit.Kit, cfg *config.Daemon) *slog.Logger {
	terminal := cfg.LogFormat == "text" || cfg.LogFormat == "auto" && k.ErrTTY
	return obs.NewLogger(k.Err, obs.LogOptions{Level: cfg.LogLevel, Terminal: terminal, Color: terminal && k.Fancy()})
}

// untilStopped waits for the end of ctx (the first signal) or of the daemon, and
// shuts it down: gracefully, unless a second signal arrives or it takes too long.
func untilStopped(ctx context.Context, k *kit.Kit, d *daemon.Daemon) error {
	var failed error
	select {
	case <-ctx.Done():
		k.Notef("shutting down; send the signal again to exit immediately")
	case failed = <-d.Failed():
	}
	again, release := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGINT, syscall.SIGTERM)
	defer release()
	polite, cancel := context.WithTimeout(again, stopLimit)
	defer cancel()
	return errors.Join(failed, d.Stop(polite))
}

func greet(k *kit.Kit, i daemon.Info, hosts string) {
	k.Printf("API        %s", i.API)
	k.Printf("gateway    %s   hosts %s", i.Gateway, hosts)
	if i.S3 != "" {
		k.Printf("S3         %s", i.S3)
	}
	if i.S3Keys != "" {
		k.Printf("S3 keys    %s", i.S3Keys)
	}
	k.Printf("tokens     %s", i.Tokens)
	k.Printf("data       %s", i.DataDir)
	k.Printf("\nnext, in a worker directory:  svcctl deploy --wait")
}

package serve

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/lib/systemd"
	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/server/daemon"
)

// serve runs the control plane.
func serve(ctx context.Context, k *kit.Kit, src config.Source) error {
	cfg, err := config.LoadDaemon(src)
	if err != nil {
		return kit.Usagef("%v", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	hangup, upgrade := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP) // from the start: the default would end the process
	signal.Notify(upgrade, syscall.SIGUSR2)
	defer signal.Stop(hangup)
	defer signal.Stop(upgrade)
	level := &slog.LevelVar{}
	level.Set(cfg.LogLevel)
	logger := newLogger(ctx, k, cfg, level)
	given, err := systemd.Inherit(k.Environ, os.Getpid())
	if err != nil {
		return err
	}
	leader, err := daemon.Lead(ctx, cfg, logger)
	if err != nil {
		return errors.Join(err, given.Close())
	}
	defer leader.Release(ctx)
	go func() {
		<-leader.Lost()
		logger.ErrorContext(ctx, "the lease is lost: another server may serve now; exiting")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // an orderly stop would write what is another's now
	}()
	progress := k.NewProgress()
	d, err := daemon.Start(ctx, daemon.Config{
		Settings: cfg, Leader: leader, Command: []string{self}, Logger: logger, Sockets: given,
		Installing: func(stage string) { progress.Stage(stage) },
	})
	progress.Done("")
	if err = errors.Join(err, given.Close()); err != nil {
		return err
	}
	leader.Serves(d)
	greet(k, d.Info(), cfg.HostPattern())
	logger.LogAttrs(ctx, slog.LevelInfo, "server started", started(d.Info(), cfg.InEffect)...)
	manager := systemd.NewManager(k.Environ, os.Getpid())
	manager.Ready()
	r := &running{Daemon: d, kit: k, source: src, self: self, level: level, logger: logger, manager: manager}
	return r.untilStopped(ctx, hangup, upgrade)
}

// newLogger writes for eyes on a terminal, else JSON, unless told otherwise.
func newLogger(ctx context.Context, k *kit.Kit, cfg *config.Daemon, level slog.Leveler) *slog.Logger {
	if cfg.LogFormat == "journal" {
		return obs.NewJournalLogger(ctx, obs.JournalSocket, k.Err, level)
	}
	terminal := cfg.LogFormat == "text" || cfg.LogFormat == "auto" && k.ErrTTY
	return obs.NewLogger(k.Err, obs.LogOptions{Level: level, Terminal: terminal, Color: terminal && k.Fancy()})
}

func greet(k *kit.Kit, i daemon.Info, hosts string) {
	k.Printf("API        %s", i.API)
	k.Printf("gateway    %s   hosts %s", i.Gateway, hosts)
	if i.HTTPS != "" {
		k.Printf("https      %s   redirects %s", i.HTTPS, cmp.Or(i.HTTP, "off"))
	}
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

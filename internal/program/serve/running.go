package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/lib/systemd"
	"github.com/svcctl/svcctl/internal/server/daemon"
)

const (
	// stopLimit is the maximum time of a graceful stop.
	stopLimit = 45 * time.Second
	// replaceLimit is the time from the begin of a replacement until the next program serves,
	// during which no API answers the watchdog.
	replaceLimit = stopLimit + 90*time.Second
	// tryLimit is the maximum time for a new program to print its version.
	tryLimit = 10 * time.Second
)

// running is a daemon that signals control.
type running struct {
	*daemon.Daemon

	kit    *kit.Kit
	source config.Source
	self   string // path of the program
	level  *slog.LevelVar
	logger *slog.Logger

	manager systemd.Manager
}

// untilStopped waits for the end of ctx (the first signal) or of the daemon, and
// shuts it down: gracefully, unless a second signal arrives or it takes too long.
// A hangup reloads the settings, an upgrade replaces this process.
func (r *running) untilStopped(ctx context.Context, hangup, upgrade <-chan os.Signal) error {
	watched, end := context.WithCancel(ctx)
	defer end()
	go r.manager.Watch(watched, r.answers)
	for {
		select {
		case <-hangup:
			r.reload(ctx)
		case <-upgrade:
			if err := r.tryProgram(ctx); err != nil {
				r.logger.ErrorContext(ctx, "replacement refused; this process serves on", "error", err)
				continue
			}
			return r.replace(ctx)
		case <-ctx.Done():
			r.kit.Notef("shutting down; send the signal again to exit immediately")
			return r.stop(ctx)
		case failed := <-r.Failed():
			return errors.Join(failed, r.stop(ctx))
		}
	}
}

func (r *running) reload(ctx context.Context) {
	changed, err := config.LoadDaemon(r.source)
	if err != nil {
		r.logger.ErrorContext(ctx, "reading the settings again failed; the settings before stay valid", "error", err)
		return
	}
	r.level.Set(changed.LogLevel)
	r.Reload(ctx, changed)
}

// answers asks our own API. It leaves out the object store: no restart of this process
// mends that.
func (r *running) answers(ctx context.Context) bool { return healthy(ctx, r.Info().API) == nil }

func (r *running) stop(ctx context.Context) error {
	r.manager.Tell("STOPPING=1")
	polite, cancel := patience(ctx)
	defer cancel()
	return r.Stop(polite)
}

// patience ends at the next signal, or after stopLimit.
func patience(ctx context.Context) (context.Context, context.CancelFunc) {
	again, release := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGINT, syscall.SIGTERM)
	polite, cancel := context.WithTimeout(again, stopLimit)
	return polite, func() { cancel(); release() }
}

// tryProgram checks that the installed program runs, while this one still serves.
func (r *running) tryProgram(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	if out, err := exec.CommandContext(ctx, r.self, "version").CombinedOutput(); err != nil {
		return fmt.Errorf("run %s version: %w: %s", r.self, err, out)
	}
	return nil
}

// replace stops the daemon and becomes the installed program, which takes the sockets.
func (r *running) replace(ctx context.Context) error {
	r.logger.InfoContext(ctx, "replacing this process by the installed program", "program", r.self)
	r.manager.Extend(replaceLimit)
	polite, cancel := patience(ctx)
	defer cancel()
	kept, err := r.Replace(polite)
	switch {
	case kept == nil:
		return errors.Join(err, r.stop(ctx))
	case ctx.Err() != nil || errors.Is(polite.Err(), context.Canceled): // a signal asks for the end
		return errors.Join(err, kept.Close())
	case err != nil:
		r.logger.ErrorContext(ctx, "shutdown before the replacement incomplete", "error", err)
	}
	signal.Ignore(syscall.SIGHUP, syscall.SIGUSR2) // the next program handles them, but not from its first moment
	return kept.Exec(append([]string{r.self}, os.Args[1:]...), r.kit.Environ)
}

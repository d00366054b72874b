package daemon

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/host/confine"
	"github.com/svcctl/svcctl/internal/host/provision"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/svc"
)

func (d *Daemon) startDirs(ctx context.Context, _ Config) error {
	warnFileLimit(ctx, fileLimit(), d.logger)
	confines := d.cfg.WorkerConfine != svc.ConfineOff && confine.Supported()
	if err := checkRoot(ctx, d.cfg, os.Geteuid(), confines, d.logger); err != nil {
		return err
	}
	// Before anything is written: the data directory of a program that is too old stays unchanged.
	if err := registry.CheckFile(d.cfg.RegistryDB); err != nil {
		return err
	}
	data, err := openDataDir(d.cfg.DataDir)
	if err != nil {
		return err
	}
	d.stops.Push("data directory", func(context.Context) error { return data.close() })
	if d.secrets, err = data.secrets(); err != nil {
		return err
	}
	d.recent.Hide(d.hidden())
	run, remove, err := data.runDir(d.cfg.Environment.Temporary)
	if err != nil {
		return err
	}
	d.stops.Push("runtime directory", func(context.Context) error { return remove() })
	d.dirs = layout{data: data, run: run}
	return d.isolateDirs()
}

func (d *Daemon) startWorkerd(ctx context.Context, c Config) (err error) {
	d.workerd, err = provision.Ensure(ctx, WorkerdOptions(d.cfg, c.Installing))
	if err != nil {
		return err
	}
	NameWorkerd(ctx, d.logger, d.cfg, d.workerd)
	return d.tryIsolation(ctx)
}

// NameWorkerd logs that workerd is a program of the operator, if it is: its checksum was not compared.
func NameWorkerd(ctx context.Context, log *slog.Logger, cfg *config.Daemon, path string) {
	if cfg.Workerd != "" {
		log.InfoContext(ctx, "workerd is a program of the operator (SVC_WORKERD); only its version was checked", "path", path)
	}
}

// packaged is where a package of the system that has a program in bin keeps workerd, or "".
func packaged(self string) string {
	if filepath.Base(filepath.Dir(self)) != "bin" {
		return ""
	}
	return filepath.Join(filepath.Dir(self), "..", "lib", "svcctl", "workerd")
}

// WorkerdOptions returns where the settings look for workerd.
func WorkerdOptions(cfg *config.Daemon, stage func(string)) provision.Options {
	self, _ := os.Executable() // "" looks for no packages
	o := provision.Options{Explicit: cfg.Workerd, CacheDir: cfg.Environment.CacheDir, Packaged: packaged(self), Program: self}
	if stage != nil {
		o.Progress = func(s provision.Stage) { stage(string(s)) }
	}
	return o
}

func (d *Daemon) startObjectStore(ctx context.Context, c Config) (err error) {
	if d.objects, err = openObjects(ctx, c, d.dirs, d.countRequest); err != nil {
		return err
	}
	d.recent.Hide(d.hidden())
	d.stops.Push("object store", func(context.Context) error { d.objects.close(); return nil })
	return nil
}

func (d *Daemon) countRequest(op, result string, took time.Duration) {
	d.metrics.S3Requests(svc.RequestCount{Op: op, Result: result, N: 1, Took: took})
}

func (d *Daemon) startRegistry(ctx context.Context, c Config) (err error) {
	open := registry.Open
	if c.WatchMode {
		open = registry.OpenNoSync
	}
	if d.registry, err = open(ctx, d.cfg.RegistryDB); err != nil {
		return err
	}
	d.stops.Push("registry", func(context.Context) error { return d.registry.Close() })
	return d.startCopies(ctx)
}

func (d *Daemon) startListeners(ctx context.Context, c Config) (err error) {
	if d.listeners, err = listen(ctx, d.cfg, c.Sockets); err != nil {
		return err
	}
	d.stops.Push("listeners", func(context.Context) error { return d.listeners.close() })
	if err := d.listenGateways(ctx); err != nil {
		return err
	}
	d.ingress, err = newIngress(d.cfg, d.listeners.gatewayURL(d.cfg))
	d.info = Info{ //nolint:gosec // Tokens is a place, not a token
		API: d.listeners.apiURL(), Gateway: d.listeners.gatewayURL(d.cfg), BaseDomain: d.cfg.BaseDomain,
		GatewayListens: origin(d.listeners.gateway),
		S3:             d.objects.endpoint(d.cfg), DataDir: d.cfg.DataDir, Tokens: "as set in the environment",
	}
	if l := d.listeners; l.https != nil {
		d.info.HTTPS = l.https.Addr().String()
		if l.http != nil {
			d.info.HTTP = l.http.Addr().String()
		}
	}
	if d.objects.embedded != nil && d.info.S3 != "" {
		d.info.S3Keys = d.objects.embedded.KeysFile()
	}
	return err
}

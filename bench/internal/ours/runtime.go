package ours

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/fleet/process"
	"github.com/svcctl/svcctl/internal/fleet/supervisor"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

// Runtimes starts the runtime of a fixture by itself: host and workerd, by the
// supervisor that the daemon uses, without the rest of a deploy.
type Runtimes struct {
	supervisor *supervisor.Supervisor
	store      *Store
	dir        string
	spares     int
	made       int
}

// Runtimes prepares the fixture and a supervisor that keeps spares ready. Stop ends it.
func (p *Program) Runtimes(ctx context.Context, fixture string, spares int) (*Runtimes, error) {
	dir, err := os.MkdirTemp(p.Scratch, "rt-")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "bundle.tar.zst")
	d := &Daemon{program: p}
	if err := d.run(ctx, "bundle", filepath.Join(p.Root, "fixtures", fixture), "--outfile", file); err != nil {
		return nil, err
	}
	if _, err := bundle.Extract(ctx, file, filepath.Join(dir, "bundle"), bundle.Limits{}); err != nil {
		return nil, err
	}
	store, err := p.Store(ctx)
	if err != nil {
		return nil, err
	}
	s, err := p.supervise(svc.HostConfig{Storage: store.storage()}, filepath.Join(dir, "run"), spares)
	if err != nil {
		store.Stop()
		return nil, err
	}
	return &Runtimes{supervisor: s, store: store, dir: dir, spares: spares}, s.Start(ctx)
}

// supervise returns a supervisor of worker hosts on this machine.
func (p *Program) supervise(host svc.HostConfig, runDir string, spares int) (*supervisor.Supervisor, error) {
	log := slog.New(slog.DiscardHandler)
	hosts, err := process.New(process.Config{
		Logger: log, Command: p.hostCommand(), Workerd: p.Workerd, Spares: spares, Host: host, RunDir: runDir,
		Environ: []string{"PATH=/usr/bin:/bin", "TMPDIR=" + os.TempDir()},
	})
	if err != nil {
		return nil, err
	}
	return supervisor.New(supervisor.Config{Logger: log, Driver: hosts, Host: host})
}

// hostCommand is the command of a worker host, by svchost if it is beside the program.
func (p *Program) hostCommand() []string {
	if path := filepath.Join(filepath.Dir(p.Path), "svchost"); exists(path) {
		return []string{path, "runtime-host"}
	}
	return []string{p.Path, "runtime-host"}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// AwaitSpares waits until the spares are ready, or starts a version that makes them start.
func (r *Runtimes) AwaitSpares(ctx context.Context) error {
	for r.made < sparesAfter && r.spares > 0 {
		if _, err := r.Start(ctx); err != nil {
			return err
		}
	}
	for r.supervisor.Spares() < r.spares {
		if err := backoff.Sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// sparesAfter is the start after which a supervisor keeps spares.
const sparesAfter = 2

// Start measures from the spawn of a runtime to its first 200, and stops it.
func (r *Runtimes) Start(ctx context.Context) (took time.Duration, err error) {
	began := time.Now()
	_, stop, err := r.Keep(ctx)
	if err != nil {
		return 0, err
	}
	return time.Since(began), stop()
}

// Keep starts a runtime, waits for its first 200 and says where it is. The caller calls stop.
func (r *Runtimes) Keep(ctx context.Context) (target load.Target, stop func() error, err error) {
	r.made++
	ref := svc.Ref{Project: "bench", Version: fmt.Sprintf("v%d", r.made)}
	data := filepath.Join(r.dir, ref.Version)
	if err := r.supervisor.Open(ctx, svc.RuntimeSpec{
		Ref: ref, CreatedAt: time.Now(),
		Local: svc.LocalSpec{BundleDir: filepath.Join(r.dir, "bundle"), DataDir: data, LogDir: data + "-logs"},
	}); err != nil {
		return target, nil, err
	}
	stop = func() error { return r.supervisor.StopVersion(ctx, ref) }
	endpoint, err := r.supervisor.Serve(ctx, ref)
	if err == nil {
		target = load.Target{Network: "unix", Address: endpoint.Socket, Host: "bench.ingress.local"}
		err = load.Until200(ctx, target, "/")
	}
	if err != nil {
		return target, nil, errors.Join(err, stop())
	}
	return target, stop, nil
}

// Stop ends the supervisor and the store.
func (r *Runtimes) Stop(ctx context.Context) error {
	defer r.store.Stop()
	return r.supervisor.Stop(ctx)
}

package ours

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/proc"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/pkg/client"
)

const startLimit = 30 * time.Second

// Program is the program under test.
type Program struct {
	Path    string // of svcctl
	Root    string // of the bench module
	Scratch string // for data directories
	Workerd string

	made int
}

// Daemon is a running control plane with a data directory of its own.
type Daemon struct {
	Client *client.Client
	Stop   func()
	PID    int

	program *Program
	dir     string
	env     []string
	note    config.Note
	store   *Store // nil for its own
}

// Start starts a daemon on free ports and waits until it serves.
func (p *Program) Start(ctx context.Context) (*Daemon, error) { return p.start(ctx) }

// StartWith is Start with settings.
func (p *Program) StartWith(ctx context.Context, env ...string) (*Daemon, error) {
	return p.start(ctx, env...)
}

func (p *Program) start(ctx context.Context, env ...string) (*Daemon, error) {
	p.made++
	dir := filepath.Join(p.Scratch, fmt.Sprintf("svcd-%d", p.made))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	d := &Daemon{program: p, dir: dir, env: []string{
		"SVC_DATA_DIR=" + dir, "PLATFORM_PORT=0", "GATEWAY_PORT=0", "SVC_EMBEDDED_S3_ADDR=127.0.0.1:0",
		"SVC_WORKERD=" + p.Workerd, "SVC_LOG_LEVEL=warn", "SVCCTL_OUTPUT=",
	}}
	d.env = append(d.env, env...)
	process, err := proc.Start(ctx, proc.Spec{Args: []string{p.Path, "serve"}, Dir: dir, Env: d.env, Log: dir + ".log"})
	if err != nil {
		return nil, err
	}
	d.Stop, d.PID = process.Stop, process.PID
	limited, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	alive, release := process.Watch(limited)
	defer release()
	if err := d.connect(alive); err != nil {
		d.Stop()
		return nil, fmt.Errorf("svcctl serve: %w", err)
	}
	return d, nil
}

// connect waits for the note that a daemon leaves when it serves.
func (d *Daemon) connect(ctx context.Context) (err error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if d.note, err = config.ReadNote(d.dir); err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	d.Client, err = client.New(d.note.API, client.Tokens{Deploy: d.note.DeployToken, Admin: d.note.AdminToken}, client.Options{})
	return err
}

// run runs one command of the program against the daemon.
func (d *Daemon) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, d.program.Path, args...)
	cmd.Env = append(os.Environ(), d.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("svcctl %v: %w: %s", args, err, out)
	}
	return nil
}

// Deploy deploys a fixture as the first version of a project and says where its
// production host is.
func (d *Daemon) Deploy(ctx context.Context, fixture string) (load.Target, error) {
	return d.DeployAs(ctx, fixture, "one")
}

// DeployAs deploys a fixture as a version, promotes it and says where its
// production host is.
func (d *Daemon) DeployAs(ctx context.Context, fixture, version string) (load.Target, error) {
	return d.DeployDir(ctx, filepath.Join(d.program.Root, "fixtures", fixture), "bench-"+fixture, version)
}

// DeployDir deploys a directory, whose project has the id, as a version, promotes it and says
// where its production host is.
func (d *Daemon) DeployDir(ctx context.Context, dir, id, version string) (load.Target, error) {
	if err := d.run(ctx, "deploy", dir, "--version", version, "--parent", "none", "--leave-writes", "--promote"); err != nil {
		return load.Target{}, err
	}
	return d.Host(id + ".ingress.local")
}

// Worker is the worker of the daemon's first runtime at its unix socket, without the gateway. Host is
// the name of the requests.
func (d *Daemon) Worker(host string) (load.Target, error) {
	found, err := filepath.Glob(filepath.Join(d.dir, "run", "v", "*", "http.sock"))
	if err != nil {
		return load.Target{}, err
	}
	if len(found) != 1 {
		return load.Target{}, fmt.Errorf("%d runtimes have a socket, want 1", len(found))
	}
	return load.Target{Network: "unix", Address: found[0], Host: host}, nil
}

// Host is the target of requests for a host name, through the gateway.
func (d *Daemon) Host(name string) (load.Target, error) {
	gateway, err := url.Parse(d.note.Gateway)
	if err != nil {
		return load.Target{}, err
	}
	return load.Target{Network: "tcp", Address: gateway.Host, Host: name}, nil
}

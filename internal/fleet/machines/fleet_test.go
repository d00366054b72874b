package machines_test

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/agent"
	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/fleet/machines"
	"github.com/svcctl/svcctl/internal/fleet/process"
	"github.com/svcctl/svcctl/internal/fleet/supervisor"
	"github.com/svcctl/svcctl/internal/fleet/supervisor/supervisortest"
	"github.com/svcctl/svcctl/internal/host/hostmain"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestMain: the test binary is also a worker host.
func TestMain(m *testing.M) {
	svctest.Main(m, map[string]svctest.Role{
		"runtime-host": func(ctx context.Context, _ []string) error { return hostmain.Run(ctx) },
	})
}

const release = "v1"

// daemon is the end of the daemon, without a supervisor.
type daemon struct {
	*machines.Fleet

	addr string
	host svc.HostConfig
	ca   *x509.Certificate

	mu    sync.Mutex // guards what changes
	token join.Token
}

// quiet logs nothing.
var quiet = slog.New(slog.DiscardHandler)

// rotate replaces the token and returns the one before.
func (d *daemon) rotate() (before join.Token) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, d.token = d.token, join.NewToken(d.ca)
	return before
}

func (d *daemon) current() (join.Token, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.token, nil
}

func newDaemon(t testing.TB, adjust func(*machines.Config)) *daemon {
	t.Helper()
	authority, err := join.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	run := svctest.ShortDir(t)
	place := svc.Place{Dir: filepath.Join(run, "store")}
	d := &daemon{addr: l.Addr().String(), ca: authority.Certificate(), token: join.NewToken(authority.Certificate()), host: svc.HostConfig{
		HeapMB: supervisor.DefaultHeapMB, StartTimeout: svctest.Patience, StartCPU: supervisor.DefaultStartCPU,
		Storage: svc.Storage{Data: place, Manifests: place, Owner: svc.Owner{Node: "d", Session: "s"}, Lease: 15 * time.Second},
	}}
	c := machines.Config{
		Logger: slog.New(slog.DiscardHandler), Listen: l, Authority: authority, RunDir: filepath.Join(run, "v"), Release: release, Host: d.host,
		Policy: machines.Tokens{Current: d.current}, Wait: svctest.Patience,
	}
	if adjust != nil {
		adjust(&c)
	}
	if d.Fleet, err = machines.New(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	return d
}

// join runs an agent until the returned function is called.
func (d *daemon) join(t testing.TB, seats int, adjust func(*agent.Config)) (leave func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := d.runIn(ctx, t, seats, adjust)
	leave = sync.OnceValue(func() error { cancel(); return svctest.Wait(t, "the end of the agent", ended) })
	t.Cleanup(func() {
		if err := leave(); err != nil {
			t.Error(err)
		}
	})
	return leave
}

// run runs an agent that ends by itself.
func (d *daemon) run(t testing.TB, seats int, adjust func(*agent.Config)) <-chan error {
	t.Helper()
	return d.runIn(t.Context(), t, seats, adjust)
}

func (d *daemon) runIn(ctx context.Context, t testing.TB, seats int, adjust func(*agent.Config)) <-chan error {
	t.Helper()
	dir := svctest.ShortDir(t)
	token, err := d.current()
	if err != nil {
		t.Fatal(err)
	}
	c := agent.Config{
		Logger: slog.New(slog.DiscardHandler), Daemon: d.addr, Token: token, Name: filepath.Base(dir), Release: release, Dir: dir, Seats: seats,
		Process: process.Config{
			Logger: slog.New(slog.DiscardHandler), Command: svctest.Command("runtime-host"), Workerd: workerdtest.Binary(t),
			RunDir: filepath.Join(dir, "v"), Environ: []string{"GORACE=" + svctest.Race},
		},
		Unpack: func(_ context.Context, _ svc.Storage, _ svc.Ref, digest, dir string) error {
			from, err := supervisortest.BundleOf(digest)
			if err != nil {
				return err
			}
			return os.CopyFS(dir, os.DirFS(from))
		},
	}
	if adjust != nil {
		adjust(&c)
	}
	ended := make(chan error, 1)
	go func() { ended <- agent.Run(ctx, c) }()
	return ended
}

// TestRemoteDriver: worker hosts of machines that join conform.
func TestRemoteDriver(t *testing.T) {
	t.Parallel()
	supervisortest.Run(t, func(t *testing.T) supervisortest.Place {
		t.Helper()
		d := newDaemon(t, nil)
		d.join(t, 2, nil)
		d.join(t, 2, nil)
		return supervisortest.Place{
			Config: supervisor.Config{Logger: quiet, Driver: d, Host: d.host},
			Kill: func(t *testing.T, e svc.Endpoint) {
				t.Helper()
				if err := syscall.Kill(e.PID, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}

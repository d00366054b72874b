package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/fleet/process"
	"github.com/svcctl/svcctl/internal/lib/atomicfile"
	"github.com/svcctl/svcctl/internal/svc"
)

// Config configures an Agent.
type Config struct {
	Logger *slog.Logger
	Daemon string // host:port
	Token  join.Token
	// Secret reads what the daemon is shown in place of the token's secret, before each dial.
	// May be nil.
	Secret  func() (svc.Secret, error)
	Name    string // of the machine, for people
	Release string // of this program
	Dir     string // of bundles and data, absolute; one agent at a time uses it
	Seats   int    // worker hosts, at least 1
	// Machine is the identity of this machine, a pod whose bundles need not outlive the process; "" for
	// one of Dir.
	Machine string
	// Listen is host:port for gateways, which reach the versions of this machine there without
	// the daemon's machine; "" for none.
	Listen string
	// Address is how gateways reach Listen: a host, with or without a port. "" for the address from
	// which the machine dials the daemon.
	Address string
	// Drain is the time, after ctx has ended, for the daemon to move versions to other machines.
	Drain   time.Duration
	Process process.Config
	// Unpack writes the bundle with a digest into dir, which does not exist, or leaves none.
	Unpack func(ctx context.Context, store svc.Storage, ref svc.Ref, digest, dir string) error
}

// Agent runs worker hosts on this machine.
type Agent struct {
	cfg     Config
	machine string // identity of Dir
	front   *front // nil without a port for gateways

	unpacking sync.Mutex

	isolating sync.Mutex // guards what follows
	passable  string     // directory of sockets of workerds with users of their own; "" before the first one
	removing  func() error
}

// Run serves until ctx ends, or until the daemon refuses this machine: a wrong token, another
// release, or a clock that is wrong. After the end of ctx the daemon has Config.Drain to move the
// versions; what runs then is stopped, with its writes in the object store.
func Run(ctx context.Context, c Config) error {
	if c.Seats < 1 {
		return errors.New("agent: at least one seat required")
	}
	if err := c.Process.Check(); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	a := &Agent{cfg: c}
	lock, err := a.prepare()
	if err != nil {
		return err
	}
	defer lock.Close()
	defer a.removePassable()
	if a.front, err = listen(ctx, c); err != nil {
		return err
	}
	defer a.front.stop() //nolint:contextcheck // ctx has ended then
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var seats sync.WaitGroup
	for range c.Seats {
		seats.Go(func() {
			if err := a.sit(ctx); err != nil {
				cancel(err)
			}
		})
	}
	seats.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// prepare locks the directory, and removes what an earlier agent left.
func (a *Agent) prepare() (*flock.Flock, error) {
	if err := os.MkdirAll(a.cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the directory of the agent: %w", err)
	}
	lock := flock.New(filepath.Join(a.cfg.Dir, "lock"), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err == nil && !ok {
		err = fmt.Errorf("another svcd host uses %s: give each one its own --data", a.cfg.Dir)
	}
	if a.machine = a.cfg.Machine; err == nil && a.machine == "" {
		a.machine, err = identity(filepath.Join(a.cfg.Dir, "machine"))
	}
	if err == nil {
		err = errors.Join(a.cfg.Process.Clear(), os.RemoveAll(a.sub("logs")), a.prune())
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

func (a *Agent) sub(names ...string) string {
	return filepath.Join(append([]string{a.cfg.Dir}, names...)...)
}

// identity returns the name in a file, and makes one if the file does not exist.
func identity(file string) (string, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		data = []byte(strings.ToLower(rand.Text()))
		err = atomicfile.Replace(file, data, 0o600)
	}
	return strings.TrimSpace(string(data)), err
}

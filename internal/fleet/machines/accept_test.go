package machines_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/agent"
	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/fleet/machines"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// door is a listener that fails at first, and counts the connections that are open.
type door struct {
	net.Listener

	failures   atomic.Int64
	open, most atomic.Int64
}

func (d *door) Accept() (net.Conn, error) {
	if d.failures.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	conn, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if n := d.open.Add(1); n > d.most.Load() {
		d.most.Store(n)
	}
	return &counted{Conn: conn, closed: sync.OnceFunc(func() { d.open.Add(-1) })}, nil
}

type counted struct {
	net.Conn

	closed func()
}

func (c *counted) Close() error { c.closed(); return c.Conn.Close() }

// TestAcceptFails: a daemon without descriptors tries again, and not as fast as it can.
func TestAcceptFails(t *testing.T) {
	t.Parallel()
	var at door
	d := newDaemon(t, func(c *machines.Config) { at.Listener, c.Listen = c.Listen, &at })
	at.failures.Store(5)
	began := time.Now()
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := join.Dial(t.Context(), d.addr, d.token, d.hello()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 155*time.Millisecond { // 5, 10, 20, 40 and 80
		t.Errorf("five failures took %s", took)
	}
}

// hello is that of a machine without a version.
func (d *daemon) hello() join.Hello {
	return join.Hello{Secret: d.token.Secret, Release: release, Time: time.Now(), Machine: "m", Name: "m", Session: "s"}
}

// faults is a policy that fails at first.
type faults struct {
	machines.Policy

	err   error
	left  atomic.Int64
	asked atomic.Int64
}

func (f *faults) Admit(ctx context.Context, h join.Hello) error {
	f.asked.Add(1)
	if f.left.Add(-1) >= 0 {
		return f.err
	}
	return f.Policy.Admit(ctx, h)
}

// TestFaults: a machine that the daemon cannot check joins later: its versions must not end.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"plain":       errors.New("open hosts-token: too many open files"),
		"unavailable": svc.Errorf(svc.Unavailable, svc.CodeClusterUnavailable, "the API server is away"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &faults{err: err}
			f.left.Store(2)
			d := newDaemon(t, func(c *machines.Config) { f.Policy, c.Policy = c.Policy, f })
			if err := d.Start(); err != nil {
				t.Fatal(err)
			}
			d.join(t, 1, nil)
			svctest.Eventually(t, "the spare", func() bool { return d.Spares() == 1 })
		})
	}
}

// TestNoRoom: a machine with a version, for which the daemon has no directory, does not hear that the
// version runs elsewhere.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	var dir string
	d := newDaemon(t, func(c *machines.Config) { dir = c.RunDir })
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(filepath.Dir(dir), 0o700), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	hello := d.hello()
	hello.Mark, hello.Ref = "mark", &svc.Ref{Project: "p", Version: "v"}
	_, w, err := join.Dial(t.Context(), d.addr, d.token, hello)
	if _, refused := errors.AsType[*svc.Error](err); err == nil || refused || w.Unwanted {
		t.Errorf("%+v, %v", w, err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, w, err := join.Dial(t.Context(), d.addr, d.token, hello); err != nil || w.Unwanted {
		t.Errorf("%+v, %v", w, err)
	}
}

// TestUselessHosts: a machine whose worker hosts do not start offers them less and less often.
func TestUselessHosts(t *testing.T) {
	t.Parallel()
	f := new(faults)
	d := newDaemon(t, func(c *machines.Config) { f.Policy, c.Policy = c.Policy, f })
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	d.join(t, 1, func(c *agent.Config) { c.Process.Command = []string{"/bin/false"} })
	svctest.Eventually(t, "five offers", func() bool { return f.asked.Load() >= 5 })
	if took := time.Since(began); took < 750*time.Millisecond { // at least 50, 100, 200 and 400
		t.Errorf("five offers took %s", took)
	}
}

package machines_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/agent"
	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/fleet/machines"
	"github.com/svcctl/svcctl/internal/fleet/supervisor"
	"github.com/svcctl/svcctl/internal/fleet/supervisor/supervisortest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestRefused: a machine that cannot run versions ends with the reason.
func TestRefused(t *testing.T) {
	t.Parallel()
	other, err := join.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for want, adjust := range map[string]func(*agent.Config){
		svc.CodeHostTokenInvalid:    func(c *agent.Config) { c.Token.Secret = "wrong" },
		svc.CodeHostDaemonUntrusted: func(c *agent.Config) { c.Token = join.NewToken(other.Certificate()) },
		svc.CodeHostOtherRelease:    func(c *agent.Config) { c.Release = "v0" },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			d := newDaemon(t, nil)
			if err := d.Start(); err != nil {
				t.Fatal(err)
			}
			ended := d.run(t, 2, adjust)
			if e := svc.AsError(svctest.Wait(t, "the end of the agent", ended)); e.Code != want || e.Hint == "" {
				t.Errorf("%+v", e)
			}
			if n := d.Spares(); n != 0 {
				t.Errorf("%d spares", n)
			}
		})
	}
}

// TestClockSkew: a machine whose clock is ten minutes off is refused.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, nil)
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	hello := join.Hello{Secret: d.token.Secret, Release: release, Time: time.Now().Add(-10 * time.Minute), Machine: "m", Name: "m", Session: "s"}
	_, _, err := join.Dial(t.Context(), d.addr, d.token, hello)
	if e := svc.AsError(err); e.Code != svc.CodeHostClockSkew || e.Hint == "" {
		t.Errorf("%+v", e)
	}
}

// TestRotation: a token that was replaced is refused, and a machine that has joined stays.
func TestRotation(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, nil)
	s := d.supervise(t)
	d.join(t, 2, nil)
	svctest.Eventually(t, "the spares", func() bool { return d.Spares() == 2 })
	before := d.rotate()
	e := s.open(t, s.spec(t, "v-1"))
	s.want(t, e)
	ended := d.run(t, 1, func(c *agent.Config) { c.Token = before })
	if err := svctest.Wait(t, "the end of the agent", ended); svc.CodeOf(err) != svc.CodeHostTokenInvalid {
		t.Errorf("the token before: %v", err)
	}
}

// TestNoSpare: a version waits for a machine, and fails when none joins in time.
func TestNoSpare(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, func(c *machines.Config) { c.Wait = 100 * time.Millisecond })
	s := d.supervise(t)
	spec := s.spec(t, "v-1")
	err := s.Open(t.Context(), spec)
	if e := svc.AsError(err); e.Code != svc.CodeNoSpareHost || e.Hint == "" {
		t.Errorf("%+v", e)
	}
	d.join(t, 1, nil)
	svctest.Succeeds(t, "the version", func() error { return s.Open(t.Context(), spec) })
}

// TestWaiting: while a version waits for a machine, the reason is reported once.
func TestWaiting(t *testing.T) {
	t.Parallel()
	reasons := make(chan string, 10)
	d := newDaemon(t, func(c *machines.Config) {
		c.Silence = 20 * time.Millisecond
		c.Waiting = func(ref svc.Ref, why string) { reasons <- ref.Version + ": " + why }
		c.Wait = 200 * time.Millisecond
	})
	s := d.supervise(t)
	if err := s.Open(t.Context(), s.spec(t, "v-1")); svc.CodeOf(err) != svc.CodeNoSpareHost {
		t.Errorf("%v", err)
	}
	if why := svctest.Wait(t, "the reason", reasons); why != "v-1: no machine has joined" || len(reasons) > 0 {
		t.Errorf("%q, and %d more", why, len(reasons))
	}
}

// TestUrgent: of the versions that wait, production gets the first spare.
func TestUrgent(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, func(c *machines.Config) {
		c.Urgent = func(_ context.Context, ref svc.Ref) (bool, error) { return ref.Version == "prod", nil }
	})
	s := d.supervise(t)
	opened := make(chan string, 3)
	for i, version := range []string{"v-1", "v-2", "prod"} {
		spec := s.spec(t, version)
		go func() {
			if err := s.Open(t.Context(), spec); err == nil {
				opened <- version
			}
		}()
		svctest.Eventually(t, "the version to wait", func() bool { return d.Waiting() == i+1 })
	}
	d.join(t, 1, nil)
	if first := svctest.Wait(t, "a version", opened); first != "prod" {
		t.Errorf("%s got the spare", first)
	}
	d.join(t, 2, nil)
	svctest.Wait(t, "the second", opened)
	svctest.Wait(t, "the third", opened)
}

// TestUrgentUnknown: a version whose urgency cannot be looked up gets no host, and says why.
func TestUrgentUnknown(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, func(c *machines.Config) {
		c.Urgent = func(context.Context, svc.Ref) (bool, error) { return false, errors.New("disk broken") }
	})
	s := d.supervise(t)
	d.join(t, 1, nil)
	if err := s.Open(t.Context(), s.spec(t, "v-1")); err == nil || !strings.Contains(err.Error(), "disk broken") {
		t.Errorf("%v", err)
	}
}

// TestLineCut: a host whose line is cut is the same host when it dials again. A request that
// comes meanwhile waits.
func TestLineCut(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, func(c *machines.Config) { c.Silence = svctest.Patience })
	cable := newCable(t, d.addr)
	s := d.supervise(t)
	d.join(t, 1, func(c *agent.Config) { c.Daemon = cable.addr })
	e := s.open(t, s.spec(t, "v-1"))
	for range 3 {
		cable.cut()
		s.want(t, e)
	}
	if r := s.Runtimes(); len(r) != 1 || r[0].Restarts != 0 || r[0].Endpoint.PID != e.PID {
		t.Errorf("%+v, want the process %d without a restart", r, e.PID)
	}
}

// inCluster is a Policy of machines that are pods.
type inCluster struct{ machines.Policy }

func (inCluster) Node(machine string) string { return "node of " + machine }

// TestSilence: a version whose machine is silent serves on another one. When the machine is
// back, it has ended the version and waits for others.
func TestSilence(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, func(c *machines.Config) { c.Silence, c.Policy = 2*time.Second, inCluster{c.Policy} })
	cable := newCable(t, d.addr)
	s := d.supervise(t)
	leave := d.join(t, 1, func(c *agent.Config) { c.Daemon, c.Name = cable.addr, "far" })
	e := s.open(t, s.spec(t, "v-1"))
	if n := d.Nodes(); e.Node != "far" || len(n) != 1 || e.ClusterNode != "node of "+n[0].ID || n[0].Node != e.ClusterNode {
		t.Errorf("it runs on %q of %q; machines %+v", e.Node, e.ClusterNode, n)
	}
	d.join(t, 1, func(c *agent.Config) { c.Name = "near" })
	svctest.Eventually(t, "the spare", func() bool { return d.Spares() == 1 })
	cable.pull()
	svctest.Eventually(t, "the version on the other machine", func() bool {
		r := s.Runtimes()
		return len(r) == 1 && r[0].State == svc.RuntimeServing && r[0].Endpoint.Node == "near"
	})
	r := s.Runtimes()[0]
	s.want(t, r.Endpoint)
	cable.plug()
	svctest.Eventually(t, "the machine to wait for versions", func() bool {
		for _, n := range d.Nodes() {
			if n.Name == "far" {
				return n.Spares == 1 && len(n.Versions) == 0
			}
		}
		return false
	})
	if err := leave(); err != nil {
		t.Error(err)
	}
}

// supervised is a Supervisor on a fleet.
type supervised struct {
	*supervisor.Supervisor

	base string
}

func (d *daemon) supervise(t testing.TB) *supervised {
	t.Helper()
	s, err := supervisor.New(supervisor.Config{Logger: quiet, Driver: d, Host: d.host, PingTimeout: svctest.Patience, Policy: supervisor.Policy{Min: time.Millisecond}})
	if err == nil {
		err = s.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return &supervised{s, t.TempDir()}
}

func (s *supervised) spec(t *testing.T, version string) svc.RuntimeSpec {
	t.Helper()
	return supervisortest.Spec(t, s.base, version, `export default { fetch: () => new Response("hello") }`)
}

func (s *supervised) open(t testing.TB, spec svc.RuntimeSpec) svc.Endpoint {
	t.Helper()
	err := s.Open(t.Context(), spec)
	var e svc.Endpoint
	if err == nil {
		e, err = s.Serve(t.Context(), spec.Ref)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// opening opens a version while the test continues. The channel gets the result.
func (s *supervised) opening(t *testing.T, spec svc.RuntimeSpec) <-chan error {
	t.Helper()
	opened := make(chan error, 1)
	go func() { opened <- s.Open(t.Context(), spec) }()
	return opened
}

func (*supervised) want(t *testing.T, e svc.Endpoint) {
	t.Helper()
	supervisortest.Want(t, e, "/", "hello")
}

// cable carries connections to the daemon, and can be cut or pulled.
type cable struct {
	addr string

	mu     sync.Mutex // guards the fields below
	conns  []net.Conn
	pulled bool
}

func newCable(t *testing.T, to string) *cable {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{addr: l.Addr().String()}
	var carrying sync.WaitGroup
	carrying.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := new(net.Dialer).DialContext(context.Background(), "tcp", to)
			if err != nil || !c.add(near, far) {
				_ = near.Close()
				continue
			}
			carrying.Go(func() { c.carry(near, far) })
			carrying.Go(func() { c.carry(far, near) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		c.cut()
		carrying.Wait()
	})
	return c
}

// add keeps a connection, and reports false while the cable is pulled.
func (c *cable) add(near, far net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pulled {
		_ = far.Close()
		return false
	}
	c.conns = append(c.conns, near, far)
	return true
}

// carry copies until a connection is closed. While the cable is pulled, bytes are lost.
func (c *cable) carry(from, to net.Conn) {
	for buffer := make([]byte, 32<<10); ; {
		n, err := from.Read(buffer)
		if err != nil {
			_ = to.Close()
			return
		}
		c.mu.Lock()
		pulled := c.pulled
		c.mu.Unlock()
		if !pulled {
			_, _ = to.Write(buffer[:n]) // the next Read fails
		}
	}
}

// cut closes all connections.
func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns = nil
}

// pull loses everything that is sent, without a word, and refuses connections.
func (c *cable) pull() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pulled = true
}

// plug ends what was pulled.
func (c *cable) plug() {
	c.mu.Lock()
	c.pulled = false
	c.mu.Unlock()
	c.cut()
}

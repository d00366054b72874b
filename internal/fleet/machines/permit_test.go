package machines_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/agent"
	"github.com/svcctl/svcctl/internal/fleet/machines"
	"github.com/svcctl/svcctl/internal/fleet/relay"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// listens has a machine listen for gateways.
func listens(c *agent.Config) { c.Listen = "127.0.0.1:0" }

// visitor sends requests to a version at its machine.
type visitor struct {
	to   relay.Destination
	role svc.Role
}

// ask sends a request on a connection of its own.
func (v visitor) ask(ctx context.Context) error {
	c, err := relay.DialMachine(ctx, v.to)
	if err != nil {
		return err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	if err := c.Begin(v.role, "", true, svctest.Patience); err != nil {
		return err
	}
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	all, err := io.ReadAll(c)
	if !strings.HasPrefix(string(all), "HTTP/1.1 200") || !strings.HasSuffix(string(all), "hello") {
		return fmt.Errorf("%q, %w", all, err)
	}
	return c.End()
}

// visit returns who asks for a version at its machine.
func visit(ref svc.Ref, e svc.Endpoint, role svc.Role) visitor {
	return visitor{relay.Destination{Ref: ref, Key: e.PortKey, Address: e.Direct, Pin: e.DirectPin}, role}
}

// is waits until requests are admitted, or not.
func (v visitor) is(t *testing.T, admitted bool) {
	t.Helper()
	svctest.Succeeds(t, fmt.Sprintf("requests of %s to be admitted: %t", v.role, admitted), func() error {
		err := v.ask(t.Context())
		if admitted == (err == nil) && (err == nil || errors.Is(err, relay.ErrNotAdmitted)) {
			return nil
		}
		return fmt.Errorf("%w", err)
	})
}

// TestPermits: a machine answers by itself what it is granted, to those that know the key; it says
// what it has admitted; and a revoked grant has ended when the daemon hears so.
func TestPermits(t *testing.T) {
	t.Parallel()
	generation := uint64(41)
	d := newDaemon(t, func(c *machines.Config) { c.Generation = func() uint64 { return generation } })
	s := d.supervise(t)
	d.join(t, 1, listens)
	spec := s.spec(t, "v-1")
	e := s.open(t, spec)
	if d.Permits(spec.Ref, "wrong") != nil || d.Permits(svc.Ref{Project: "shop", Version: "v-2"}, e.PortKey) != nil {
		t.Error("permits for a wrong key, or another version")
	}
	p := d.Permits(spec.Ref, e.PortKey)
	if p == nil {
		t.Fatalf("no permits for %+v", e)
	}
	own, production := visit(spec.Ref, e, svc.RolePreview), visit(spec.Ref, e, svc.RoleProduction)
	if err := own.ask(t.Context()); !errors.Is(err, relay.ErrNotAdmitted) {
		t.Errorf("without a grant: %v", err)
	}
	g1, g2 := p.Grant(svc.RolePreview), p.Grant(svc.RoleProduction)
	own.is(t, true)
	production.is(t, true)
	svctest.Eventually(t, "the use to be known", func() bool {
		u := p.Used()
		return time.Since(u.Last[svc.RoleProduction]) < svctest.Patience && !u.Last[svc.RolePreview].IsZero()
	})
	wrong := own
	wrong.to.Key += "x"
	if err := wrong.ask(t.Context()); !errors.Is(err, relay.ErrNotAdmitted) {
		t.Errorf("with a wrong key: %v", err)
	}
	wrong = own
	wrong.to.Pin = strings.Repeat("0", len(wrong.to.Pin))
	if err := wrong.ask(t.Context()); err == nil {
		t.Error("a machine with another certificate was believed")
	}
	if resp, err := http.Get("http://" + e.Direct + relay.Path); err == nil {
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("without TLS: %s", resp.Status)
		}
	}

	order := make(chan string, 4)
	p.Revoke(g2, func() { order <- "revoked" }, func() { order <- "ended" })
	if a, b := svctest.Wait(t, "the first", order), svctest.Wait(t, "the second", order); a != "revoked" || b != "ended" {
		t.Errorf("%s, then %s", a, b)
	}
	if moved, ok := errors.AsType[*relay.MovedError](production.ask(t.Context())); !ok || moved.Generation != generation {
		t.Errorf("after the revocation: %+v", moved)
	}
	own.is(t, true)
	if err := s.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Fatal(err)
	}
	p.Revoke(g1, func() { order <- "revoked" }, func() { order <- "ended" })
	if a, b := svctest.Wait(t, "the first", order), svctest.Wait(t, "the second", order); a != "revoked" || b != "ended" {
		t.Errorf("after the end of the host: %s, then %s", a, b)
	}
	if err := own.ask(t.Context()); err == nil {
		t.Error("a version that was stopped answers")
	}
}

// TestLateDaemon: while nothing is heard of the daemon, a machine answers for less than the silence
// after which its version is opened on another one: the two never answer at the same time. A grant
// that is revoked meanwhile counts as revoked when the machine has stopped to answer.
func TestLateDaemon(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, func(c *machines.Config) { c.Silence = 2 * time.Second })
	cable := newCable(t, d.addr)
	s := d.supervise(t)
	d.join(t, 1, func(c *agent.Config) { c.Daemon, c.Name = cable.addr, "far"; listens(c) })
	spec := s.spec(t, "v-1")
	e := s.open(t, spec)
	far := visit(spec.Ref, e, svc.RoleProduction)
	p := d.Permits(spec.Ref, e.PortKey)
	grant := p.Grant(svc.RoleProduction)
	far.is(t, true)
	d.join(t, 1, func(c *agent.Config) { c.Name = "near"; listens(c) })
	svctest.Eventually(t, "the spare", func() bool { return d.Spares() == 1 })

	var mu sync.Mutex
	var answered []time.Time
	ctx, cancel := context.WithCancel(t.Context())
	var visitors sync.WaitGroup
	for range 2 {
		visitors.Go(func() {
			for ctx.Err() == nil {
				if far.ask(ctx) == nil {
					mu.Lock()
					answered = append(answered, time.Now())
					mu.Unlock()
				}
			}
		})
	}
	cable.pull()
	pulled := time.Now()
	revoked, ended := make(chan time.Time, 1), make(chan time.Time, 1)
	p.Revoke(grant, func() { revoked <- time.Now() }, func() { ended <- time.Now() })
	at := svctest.Wait(t, "the grant to be revoked", revoked)
	svctest.Eventually(t, "the version on the other machine", func() bool {
		r := s.Runtimes()
		return len(r) == 1 && r[0].State == svc.RuntimeServing && r[0].Endpoint.Node == "near"
	})
	moved := s.Runtimes()[0].Endpoint
	svctest.Wait(t, "the grant to end", ended)
	cancel()
	visitors.Wait()
	last := slices.MaxFunc(answered, time.Time.Compare)
	t.Logf("the machine answered for %s without the daemon, which took the grant for revoked after %s", last.Sub(pulled), at.Sub(pulled))
	if last.After(at) || last.Before(pulled) {
		t.Errorf("last answer after %s, revoked after %s", last.Sub(pulled), at.Sub(pulled))
	}
	if moved.StartedAt.Before(last) {
		t.Errorf("the other machine served at %s, the first one until %s", moved.StartedAt, last)
	}
	next := visit(spec.Ref, moved, svc.RoleProduction)
	d.Permits(spec.Ref, moved.PortKey).Grant(svc.RoleProduction)
	next.is(t, true)
	cable.plug()
}

// TestNotLeading: a daemon that may have a successor does not renew permits.
func TestNotLeading(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	leads := true
	d := newDaemon(t, func(c *machines.Config) {
		c.Silence = 5 * time.Second // a busy machine must not be lost
		c.PermitsUntil = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			if leads {
				return time.Now().Add(time.Minute)
			}
			return time.Time{}
		}
	})
	s := d.supervise(t)
	d.join(t, 1, listens)
	spec := s.spec(t, "v-1")
	e := s.open(t, spec)
	d.Permits(spec.Ref, e.PortKey).Grant(svc.RolePreview)
	v := visit(spec.Ref, e, svc.RolePreview)
	v.is(t, true)
	set := func(to bool) { mu.Lock(); defer mu.Unlock(); leads = to }
	set(false)
	v.is(t, false)
	set(true)
	v.is(t, true)
	if r := s.Runtimes(); len(r) != 1 || r[0].Restarts != 0 {
		t.Errorf("%+v, want no restart", r)
	}
}

// TestPermitsUntil: a machine admits nothing after the time that permits may not exceed, however often
// they are renewed, and less than a permit's own time passes until then.
func TestPermitsUntil(t *testing.T) {
	t.Parallel()
	limit := time.Now().Add(time.Hour)
	var mu sync.Mutex
	d := newDaemon(t, func(c *machines.Config) {
		c.Silence = 20 * time.Second // a busy machine must not be lost
		c.PermitsUntil = func() time.Time { mu.Lock(); defer mu.Unlock(); return limit }
	})
	s := d.supervise(t)
	d.join(t, 1, listens)
	spec := s.spec(t, "v-1")
	e := s.open(t, spec)
	mu.Lock()
	limit = time.Now().Add(4 * time.Second)
	mu.Unlock()
	p := d.Permits(spec.Ref, e.PortKey)
	p.Grant(svc.RolePreview)
	v := visit(spec.Ref, e, svc.RolePreview)
	var last time.Time
	for time.Now().Before(limit.Add(time.Second)) {
		if began := time.Now(); v.ask(t.Context()) == nil {
			last = began
		}
		p.Revoke(p.Grant(svc.RoleProduction), func() {}, func() {}) // another permit
	}
	if last.IsZero() || last.After(limit) {
		t.Errorf("the last request that was admitted began %s before the limit", limit.Sub(last))
	}
}

// TestKillUnconfirmed: a host that was killed while nothing is heard of its machine has ended when the
// machine answers no more.
func TestKillUnconfirmed(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, func(c *machines.Config) { c.Silence = 8 * time.Second })
	cable := newCable(t, d.addr)
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	d.join(t, 1, func(c *agent.Config) { c.Daemon = cable.addr; listens(c) })
	s := d.supervise(t)
	spec := s.spec(t, "v-1")
	e := s.open(t, spec)
	d.Permits(spec.Ref, e.PortKey).Grant(svc.RolePreview)
	v := visit(spec.Ref, e, svc.RolePreview)
	v.is(t, true)
	cable.pull()
	if err := s.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Error(err)
	}
	if err := v.ask(t.Context()); !errors.Is(err, relay.ErrNotAdmitted) {
		t.Errorf("after the end of the host: %v", err)
	}
	cable.plug()
}

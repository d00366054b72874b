package machines_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/agent"
	"github.com/svcctl/svcctl/internal/fleet/machines"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// claiming is a Policy whose claims do what a test says.
type claiming struct {
	machines.Policy

	claim func(machine string) error
}

func (p claiming) Claim(_ context.Context, _ svc.RuntimeSpec, machine string) error {
	return p.claim(machine)
}

var errAPIServer = svc.Errorf(svc.Unavailable, svc.CodeClusterUnavailable, "the API server is away").WithHint("wait")

// TestClaimMeanwhile: the version is opened while its machine is claimed, and serves after both.
func TestClaimMeanwhile(t *testing.T) {
	t.Parallel()
	unpacked, claimed := make(chan struct{}), make(chan struct{})
	d := newDaemon(t, func(c *machines.Config) {
		c.Policy = claiming{c.Policy, func(string) error { <-claimed; return nil }}
	})
	s := d.supervise(t)
	d.join(t, 1, func(c *agent.Config) {
		unpack := c.Unpack
		c.Unpack = func(ctx context.Context, st svc.Storage, ref svc.Ref, digest, dir string) error {
			defer close(unpacked)
			return unpack(ctx, st, ref, digest, dir)
		}
	})
	spec := s.spec(t, "v-1")
	opened := s.opening(t, spec)
	svctest.Wait(t, "the bundle at the machine", unpacked)
	select {
	case err := <-opened:
		t.Errorf("it was opened before the claim: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	close(claimed)
	if err := svctest.Wait(t, "the version", opened); err != nil {
		t.Fatal(err)
	}
	s.want(t, s.open(t, spec))
}

// TestClaimConflict: a machine that was claimed by another server meanwhile is not used, and the version
// gets another one.
func TestClaimConflict(t *testing.T) {
	t.Parallel()
	var first atomic.Pointer[string]
	d := newDaemon(t, func(c *machines.Config) {
		c.Policy = claiming{c.Policy, func(machine string) error {
			if first.CompareAndSwap(nil, &machine) || *first.Load() == machine {
				return svc.Errorf(svc.Conflict, svc.CodePodTaken, "taken").WithHint("wait")
			}
			return nil
		}}
	})
	s := d.supervise(t)
	d.join(t, 1, nil)
	d.join(t, 1, nil)
	svctest.Eventually(t, "the spares", func() bool { return d.Spares() == 2 })
	s.want(t, s.open(t, s.spec(t, "v-1")))
	for _, n := range d.Nodes() {
		if n.ID == *first.Load() && len(n.Versions) > 0 {
			t.Errorf("%+v has the version", n)
		}
	}
}

// TestClaimAgain: while the API server is away, the version waits with its host and says why. In the
// end it fails with the reason.
func TestClaimAgain(t *testing.T) {
	t.Parallel()
	var claims atomic.Int32
	var away atomic.Bool
	reasons := make(chan string, 10)
	d := newDaemon(t, func(c *machines.Config) {
		c.Wait = 10 * time.Second
		c.Waiting = func(_ svc.Ref, why string) { reasons <- why }
		c.Policy = claiming{c.Policy, func(string) error {
			if claims.Add(1) < 3 || away.Load() {
				return errAPIServer
			}
			return nil
		}}
	})
	s := d.supervise(t)
	d.join(t, 1, nil)
	svctest.Eventually(t, "the spare", func() bool { return d.Spares() == 1 })
	s.want(t, s.open(t, s.spec(t, "v-1")))
	if why := svctest.Wait(t, "the reason", reasons); why != "the API server is away" || claims.Load() != 3 {
		t.Errorf("%q, %d claims", why, claims.Load())
	}
	away.Store(true)
	d.join(t, 1, nil)
	err := s.Open(t.Context(), s.spec(t, "v-2"))
	if e := svc.AsError(err); e.Code != svc.CodeNoSpareHost || !strings.Contains(e.Detail, "the API server is away") {
		t.Errorf("%+v", e)
	}
}

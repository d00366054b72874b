package route

import (
	"context"
	"crypto/subtle"
	"net"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/gate"
	"github.com/svcctl/svcctl/internal/fleet/relay"
	"github.com/svcctl/svcctl/internal/svc"
)

// admission is the claim of a runtime for a request of another gateway. It counts in drains,
// holds and times of use as a request of this gateway.
type admission struct {
	claim    Claim
	upstream *Upstream
	opened   bool // as a websocket
}

// Admit claims the runtime for a request of another gateway. Errors: relay.ErrFull, and a
// *relay.MovedError, whose generation the caller sets, if the request belongs to another
// version or runtime, or waits, or must pass this gateway because the project is read-only.
func (r *Router) Admit(a relay.Ask) (relay.Admission, error) { //nolint:ireturn // what relay.Config wants
	moved := &relay.MovedError{}
	cl := Claim{Role: a.Role}
	if p := r.table.Load().asked(a); p != nil {
		e, ok := p.gate.Enter()
		if !ok {
			return nil, moved
		}
		cl.epoch = e
	}
	// Read the pointer again: only now is it certain to be of this epoch.
	t := r.table.Load()
	v := t.version(a.Ref)
	if p := t.asked(a); !v.admits(a.Key) || v.State.ReadOnly || (p == nil) != (cl.epoch == nil) || p != nil && p.prod != a.Ref.Version {
		cl.Leave()
		return nil, moved
	}
	if !v.upstream.Acquire() {
		cl.Leave()
		return nil, moved
	}
	if cl.Upstream = v.upstream; r.isFull(v.upstream) {
		cl.Upstream.Release()
		cl.Leave()
		return nil, relay.ErrFull
	}
	cl.Version, cl.counted = v, true
	s := v.stats.of(a.Role)
	s.inflight.Add(1)
	s.last.Store(time.Now().UnixNano())
	return &admission{claim: cl, upstream: v.upstream}, nil
}

// Knows reports whether the version has a runtime with the key of the ask. Unlike Admit it
// claims nothing.
func (r *Router) Knows(a relay.Ask) bool { return r.table.Load().version(a.Ref).admits(a.Key) }

// admits reports whether requests with this key may reach the runtime of v, which may be nil.
func (v *Version) admits(key string) bool {
	return v != nil && v.upstream != nil && v.State.Status.Serves() && v.State.PortKey != "" &&
		subtle.ConstantTimeCompare([]byte(v.State.PortKey), []byte(key)) == 1
}

// asked returns the host name of a that changes its version, nil if a is for the version's own.
func (t *table) asked(a relay.Ask) *project {
	switch {
	case a.Role == svc.RoleProduction:
		if p := t.project(a.Ref.Project); p != nil {
			return p
		}
	case a.Preview != "":
		if p := t.preview(svc.Ref{Project: a.Ref.Project, Version: a.Preview}); p != nil {
			return p
		}
	default:
		return nil
	}
	return &project{gate: gate.New()} // removed: it has no version
}

// Dial implements relay.Admission.
func (a *admission) Dial(ctx context.Context) (net.Conn, error) { return Dial(ctx, a.upstream.Socket) }

// Same implements relay.Admission.
func (a *admission) Same(other relay.Admission) bool {
	b, ok := other.(*admission)
	return ok && a.upstream == b.upstream
}

// Opened implements relay.Admission.
func (a *admission) Opened() {
	a.opened = true
	a.claim.Version.stats.relayed.Add(1)
	a.upstream.tunnels.Add(1)
	a.claim.Release()
}

// Release implements relay.Admission.
func (a *admission) Release() {
	if a.opened {
		a.opened = false
		a.claim.Version.stats.relayed.Add(-1)
		a.upstream.tunnels.Add(-1)
	}
	a.claim.Release()
}

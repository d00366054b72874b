package gateway

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/relay"
	"github.com/svcctl/svcctl/internal/svc"
)

// SetVersion adds ref, or changes its state. If the state no longer names the same
// runtime, the spare connections of that runtime are closed and its websockets end
// with 1012; its requests in flight continue.
func (g *Gateway) SetVersion(ref svc.Ref, state svc.Upstream) {
	g.mu.Lock()
	defer g.mu.Unlock()
	old := g.table.Load().version(ref)
	v := &version{ref: ref, host: g.cfg.Ingress.PreviewHost(ref), state: state, replaced: make(chan struct{}), roused: new(atomic.Bool)}
	if old != nil {
		v.stats = old.stats
	} else {
		v.stats = &stats{tunnels: map[*tunnel]struct{}{}}
	}
	v.upstream = g.upstreamFor(ref, old, state)
	v.site = siteFor(old, state)
	g.table.Store(g.table.Load().with(func(t *table) { t.setVersion(v) }))
	if old != nil {
		g.retire(old, v.upstream)
	}
	g.delegate(v)
}

// upstreamFor returns the upstream of the runtime in state: that of old if it is the
// same process.
func (g *Gateway) upstreamFor(ref svc.Ref, old *version, state svc.Upstream) *upstream {
	if state.Socket == "" || state.Starting {
		return nil
	}
	if old != nil && old.upstream != nil && old.state.Socket == state.Socket &&
		old.state.PID == state.PID && old.state.StartedAt.Equal(state.StartedAt) && old.state.PortKey == state.PortKey && old.state.Direct == state.Direct && old.state.DirectPin == state.DirectPin {
		return old.upstream
	}
	u := newUpstream(state.Socket)
	if g.cfg.Relay != nil {
		g.waysTo(u, relay.Destination{Ref: ref, Key: state.PortKey, Address: state.Direct, Pin: state.DirectPin})
	}
	if g.cfg.Machine != nil && state.Direct != "" {
		if m := g.cfg.Machine(ref, state.PortKey); m != nil {
			u.delegated = &delegated{machine: m, grants: map[svc.Role]*grant{}}
		}
	}
	return u
}

// retire is called after a table without v was stored. next is the current upstream
// of the version.
func (g *Gateway) retire(v *version, next *upstream) {
	if v.upstream != nil && v.upstream != next {
		v.upstream.retire()
		g.revokeAll(v.upstream)
		g.engine.prune(v.upstream)
		v.stats.retired = append(slices.DeleteFunc(v.stats.retired, (*upstream).isDone), v.upstream)
		v.stats.closeTunnels(func(t *tunnel) bool { return t.upstream == v.upstream })
	}
	close(v.replaced)
}

// RemoveVersion removes ref.
func (g *Gateway) RemoveVersion(ref svc.Ref) {
	g.mu.Lock()
	defer g.mu.Unlock()
	old := g.table.Load().version(ref)
	if old == nil {
		return
	}
	g.table.Store(g.table.Load().with(func(t *table) { t.removeVersion(old) }))
	g.retire(old, nil)
}

// DrainVersion waits for the requests in flight of the runtimes of ref that
// SetVersion has retired, or for the end of ctx, whose cause it then returns.
// Websockets do not count.
func (g *Gateway) DrainVersion(ctx context.Context, ref svc.Ref) error {
	v := g.table.Load().version(ref)
	if v == nil {
		return nil
	}
	g.mu.Lock()
	retired := slices.Clone(v.stats.retired)
	g.mu.Unlock()
	for _, u := range retired {
		select {
		case <-u.done:
		case <-ctx.Done():
			return fmt.Errorf("draining %s: %d requests still run: %w", ref, u.count(), context.Cause(ctx))
		}
	}
	return nil
}

// SetProduction makes version the target of a project's production host; "" means
// no version. If the machine of the old version admits requests itself, requests wait until it
// does so no more.
func (g *Gateway) SetProduction(id, version string) {
	old, paused := "", false
	p := g.setProject(id, func(p *project) {
		if old = p.prod; old == version {
			return
		}
		v := g.table.Load().version(svc.Ref{Project: id, Version: old})
		paused = v.shares() && p.gate.pause()
		p.gate.switched()
		p.prod = version
	})
	g.mu.Lock()
	g.delegate(g.table.Load().version(svc.Ref{Project: id, Version: old}))
	g.mu.Unlock()
	if paused {
		p.gate.release()
	}
	g.share(id)
}

// setProject stores a changed copy of a project, which it creates if necessary.
func (g *Gateway) setProject(id string, change func(*project)) *project {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := &project{id: id, host: g.cfg.Ingress.ProdHost(id), gate: newGate()}
	if old := g.table.Load().project(id); old != nil {
		*p = *old
	}
	change(p)
	g.table.Store(g.table.Load().with(func(t *table) { t.setProject(p) }))
	return p
}

// Hold makes new requests of a project's production host wait, until Release or
// Config.HoldTimeout [D20]. Requests that were claimed continue.
func (g *Gateway) Hold(id string) {
	g.setProject(id, func(*project) {}).gate.hold()
	g.share(id)
}

// Release ends the wait of the requests of a production host; they reach the version
// of the last SetProduction. Without a hold it does nothing.
func (g *Gateway) Release(id string) {
	if p := g.table.Load().project(id); p != nil {
		p.gate.release()
		g.share(id)
	}
}

// DrainProduction waits for the requests that were claimed through the production
// host before the last Hold, or for the end of ctx, whose cause it then returns.
// Websockets do not count [D20].
func (g *Gateway) DrainProduction(ctx context.Context, id string) error {
	p := g.table.Load().project(id)
	if p == nil {
		return nil
	}
	if err := p.gate.drain(ctx); err != nil {
		return fmt.Errorf("draining the production host of %s: %w", id, err)
	}
	return nil
}

// CloseWebsockets ends the current websockets of ref in this role ("" for both) with
// 1012 Service Restart [D20], after the given time. It does not wait. Websockets of
// the production role stay open if the version is production at that time.
func (g *Gateway) CloseWebsockets(ref svc.Ref, role svc.Role, after time.Duration) {
	v := g.table.Load().version(ref)
	if v == nil {
		return
	}
	chosen := v.stats.listTunnels(role)
	if after <= 0 {
		closeAll(chosen)
		return
	}
	g.later(after, func() {
		p := g.table.Load().project(ref.Project)
		if role == svc.RoleProduction && p != nil && p.prod == ref.Version {
			return
		}
		closeAll(chosen)
	})
}

// later calls f after the given time, unless the gateway is closed before.
func (g *Gateway) later(after time.Duration, f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing.Load() {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(after, func() {
		g.mu.Lock()
		_, live := g.timers[timer]
		delete(g.timers, timer)
		g.mu.Unlock()
		if live {
			f()
		}
	})
	g.timers[timer] = struct{}{}
}

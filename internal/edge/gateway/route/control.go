package route

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/gate"
	"github.com/svcctl/svcctl/internal/fleet/relay"
	"github.com/svcctl/svcctl/internal/svc"
)

// SetVersion adds ref, or changes its state. If the state no longer names the same
// runtime, the spare connections of that runtime are closed and its websockets end
// with 1012; its requests in flight continue.
func (r *Router) SetVersion(ref svc.Ref, state svc.Upstream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.table.Load().version(ref)
	v := &Version{Ref: ref, host: r.cfg.Ingress.PreviewHost(ref), State: state, Replaced: make(chan struct{}), roused: new(atomic.Bool)}
	if old != nil {
		v.stats = old.stats
	} else {
		v.stats = &stats{websockets: map[*Websocket]struct{}{}}
	}
	v.upstream = r.upstreamFor(ref, old, state)
	v.site = siteFor(old, state)
	r.table.Store(r.table.Load().with(func(t *table) { t.setVersion(v) }))
	if old != nil {
		r.retire(old, v.upstream)
	}
	r.delegate(v)
}

// upstreamFor returns the upstream of the runtime in state: that of old if it is the
// same process.
func (r *Router) upstreamFor(ref svc.Ref, old *Version, state svc.Upstream) *Upstream {
	if state.Socket == "" || state.Starting {
		return nil
	}
	if old != nil && old.upstream != nil && old.State.Socket == state.Socket &&
		old.State.PID == state.PID && old.State.StartedAt.Equal(state.StartedAt) && old.State.PortKey == state.PortKey && old.State.Direct == state.Direct && old.State.DirectPin == state.DirectPin {
		return old.upstream
	}
	u := newUpstream(state.Socket)
	if r.cfg.Relay != nil {
		r.waysTo(u, relay.Destination{Ref: ref, Key: state.PortKey, Address: state.Direct, Pin: state.DirectPin})
	}
	if r.cfg.Machine != nil && state.Direct != "" {
		if m := r.cfg.Machine(ref, state.PortKey); m != nil {
			u.delegated = &delegated{machine: m, grants: map[svc.Role]*grant{}}
		}
	}
	return u
}

// retire is called after a table without v was stored. next is the current upstream
// of the version.
func (r *Router) retire(v *Version, next *Upstream) {
	if v.upstream != nil && v.upstream != next {
		v.upstream.retire()
		r.revokeAll(v.upstream)
		r.pruned(v.upstream)
		v.stats.retired = append(slices.DeleteFunc(v.stats.retired, (*Upstream).IsDone), v.upstream)
		v.stats.closeWebsockets(func(w *Websocket) bool { return w.Upstream == v.upstream })
	}
	close(v.Replaced)
}

// RemoveVersion removes ref.
func (r *Router) RemoveVersion(ref svc.Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.table.Load().version(ref)
	if old == nil {
		return
	}
	r.table.Store(r.table.Load().with(func(t *table) { t.removeVersion(old) }))
	r.retire(old, nil)
}

// DrainVersion waits for the requests in flight of the runtimes of ref that
// SetVersion has retired, or for the end of ctx, whose cause it then returns.
// Websockets do not count.
func (r *Router) DrainVersion(ctx context.Context, ref svc.Ref) error {
	v := r.table.Load().version(ref)
	if v == nil {
		return nil
	}
	r.mu.Lock()
	retired := slices.Clone(v.stats.retired)
	r.mu.Unlock()
	for _, u := range retired {
		select {
		case <-u.Done:
		case <-ctx.Done():
			return fmt.Errorf("draining %s: %d requests still run: %w", ref, u.Count(), context.Cause(ctx))
		}
	}
	return nil
}

// SetProduction makes version the target of a project's production host; "" means
// no version. If the machine of the old version admits requests itself, requests wait until it
// does so no more.
func (r *Router) SetProduction(id, version string) {
	old, paused := "", false
	p := r.setProject(id, func(p *project) {
		if old = p.prod; old == version {
			return
		}
		v := r.table.Load().version(svc.Ref{Project: id, Version: old})
		paused = v.shares() && p.gate.Pause()
		p.gate.Switched()
		p.prod = version
	})
	r.mu.Lock()
	r.delegate(r.table.Load().version(svc.Ref{Project: id, Version: old}))
	r.mu.Unlock()
	if paused {
		p.gate.Release()
	}
	r.share(id)
}

// setProject stores a changed copy of a project, which it creates if necessary.
func (r *Router) setProject(id string, change func(*project)) *project {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &project{id: id, host: r.cfg.Ingress.ProdHost(id), gate: gate.New()}
	if old := r.table.Load().project(id); old != nil {
		*p = *old
	}
	change(p)
	r.table.Store(r.table.Load().with(func(t *table) { t.setProject(p) }))
	return p
}

// Hold makes new requests of a project's production host wait, until Release or
// Config.HoldTimeout [D20]. Requests that were claimed continue.
func (r *Router) Hold(id string) {
	r.setProject(id, func(*project) {}).gate.Hold()
	r.share(id)
}

// Release ends the wait of the requests of a production host; they reach the version
// of the last SetProduction. Without a hold it does nothing.
func (r *Router) Release(id string) {
	if p := r.table.Load().project(id); p != nil {
		p.gate.Release()
		r.share(id)
	}
}

// DrainProduction waits for the requests that were claimed through the production
// host before the last Hold, or for the end of ctx, whose cause it then returns.
// Websockets do not count [D20].
func (r *Router) DrainProduction(ctx context.Context, id string) error {
	p := r.table.Load().project(id)
	if p == nil {
		return nil
	}
	if err := p.gate.Drain(ctx); err != nil {
		return fmt.Errorf("draining the production host of %s: %w", id, err)
	}
	return nil
}

// CloseWebsockets ends the current websockets of ref in this role ("" for both) with
// 1012 Service Restart [D20], after the given time. It does not wait. Websockets of
// the production role stay open if the version is production at that time.
func (r *Router) CloseWebsockets(ref svc.Ref, role svc.Role, after time.Duration) {
	v := r.table.Load().version(ref)
	if v == nil {
		return
	}
	chosen := v.stats.listWebsockets(role)
	if after <= 0 {
		closeAll(chosen)
		return
	}
	r.later(after, func() {
		p := r.table.Load().project(ref.Project)
		if role == svc.RoleProduction && p != nil && p.prod == ref.Version {
			return
		}
		closeAll(chosen)
	})
}

// later calls f after the given time, unless the gateway is closed before.
func (r *Router) later(after time.Duration, f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing.Load() {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(after, func() {
		r.mu.Lock()
		_, live := r.timers[timer]
		delete(r.timers, timer)
		r.mu.Unlock()
		if live {
			f()
		}
	})
	r.timers[timer] = struct{}{}
}

// CutOver returns how long the last change of a project's production took for the
// requests of its host name. The window is not known before a request that waited is
// answered.
func (r *Router) CutOver(id string) svc.CutOver {
	p := r.table.Load().project(id)
	if p == nil {
		return svc.CutOver{}
	}
	return p.gate.CutOver()
}

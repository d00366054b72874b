package route

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/gate"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

// Machine admits requests to one runtime itself, for the host names of the roles that it is granted.
// Its methods do not block and are safe for concurrent use.
type Machine interface {
	// Grant lets the machine admit requests for the host name of a role.
	Grant(role svc.Role) (grant uint64)
	// Revoke ends that. revoked is called when the machine admits no more requests by the grant,
	// and then ended, when those that it has admitted have ended: once each, by another goroutine.
	Revoke(grant uint64, revoked, ended func())
	// Used returns what the machine has admitted, as of a moment ago.
	Used() MachineUse
}

// MachineUse is what a machine has admitted itself.
type MachineUse struct {
	Requests   map[svc.Role]int // in progress
	Websockets int
	Last       map[svc.Role]time.Time // when the last request began
}

// inProgress returns the number of requests of all roles.
func (u MachineUse) inProgress() (n int) {
	for _, k := range u.Requests {
		n += k
	}
	return n
}

// grant is the claim of a machine for all requests that it admits: it is in the tally of the runtime
// and in the epoch of the production host until they have ended. So holds and drains wait for
// them as for a request that this gateway has claimed.
type grant struct {
	id    uint64
	of    *Version
	epoch *gate.Epoch // of production; nil for the version's own host name
	gate  *gate.Gate  // likewise
}

// delegated is the part of an upstream whose machine admits requests itself. Router.mu guards grants.
type delegated struct {
	machine Machine
	grants  map[svc.Role]*grant
}

// delegate grants the machine of v what it may have by the current table, and revokes the rest. r.mu
// must be held.
func (r *Router) delegate(v *Version) {
	if v == nil || v.upstream == nil || v.upstream.delegated == nil {
		return
	}
	serves := v.State.Status.Serves() && !v.upstream.IsClosed() && !v.State.ReadOnly // machines do not know methods
	r.grant(v, svc.RolePreview, nil, serves)
	p := r.table.Load().project(v.Ref.Project)
	if p == nil || p.prod != v.Ref.Version {
		r.revoke(v.upstream, svc.RoleProduction)
		return
	}
	r.grant(v, svc.RoleProduction, p.gate, serves && p.gate.IsShared())
}

// share is delegate for the production of a project.
func (r *Router) share(project string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.table.Load().project(project); p != nil {
		r.delegate(r.table.Load().version(svc.Ref{Project: project, Version: p.prod}))
	}
}

// grant makes the machine of v have the grant of a role, or not. One of an epoch that was closed is
// replaced. r.mu must be held.
func (r *Router) grant(v *Version, role svc.Role, of *gate.Gate, wanted bool) {
	u := v.upstream
	has := u.delegated.grants[role]
	if has != nil && (!wanted || has.gate != of || has.epoch != nil && has.epoch.IsClosed()) {
		r.revoke(u, role)
		has = nil
	}
	if has != nil || !wanted || !u.Acquire() {
		return
	}
	n := &grant{of: v, gate: of}
	if of != nil {
		if n.epoch = of.Current(); !n.epoch.Acquire() {
			u.Release()
			return
		}
	}
	u.grants.Add(1)
	n.id = u.delegated.machine.Grant(role)
	u.delegated.grants[role] = n
}

// revoke ends a grant. The production host opens no earlier than the machine has stopped to admit
// requests for it. r.mu must be held.
func (r *Router) revoke(u *Upstream, role svc.Role) {
	d := u.delegated
	n := d.grants[role]
	if n == nil {
		return
	}
	delete(d.grants, role)
	if n.gate != nil {
		n.gate.Revoking()
	}
	d.machine.Revoke(n.id, func() {
		if n.gate != nil && n.gate.Revoked() {
			r.share(n.of.Ref.Project)
		}
	}, func() {
		n.of.stats.note(d.machine.Used())
		if n.epoch != nil {
			n.epoch.Release()
		}
		u.grants.Add(-1)
		u.Release()
	})
}

// revokeAll ends the grants of a runtime that is replaced. r.mu must be held.
func (r *Router) revokeAll(u *Upstream) {
	if u.delegated != nil {
		r.revoke(u, svc.RoleProduction)
		r.revoke(u, svc.RolePreview)
	}
}

// note keeps the times of requests that a machine has admitted.
func (s *stats) note(used MachineUse) {
	for role, at := range used.Last {
		if used.Websockets > 0 {
			at = time.Now()
		}
		last := &s.of(role).last
		for {
			old := last.Load()
			if at.UnixNano() <= old || last.CompareAndSwap(old, at.UnixNano()) {
				break
			}
		}
	}
}

// used returns what the machine of the runtime of v has admitted itself.
func (v *Version) used() MachineUse {
	if v.upstream == nil || v.upstream.delegated == nil {
		return MachineUse{}
	}
	return v.upstream.delegated.machine.Used()
}

// last is the time of the last request in any role, here or at the machine, in unix nanoseconds;
// 0 for never.
func (v *Version) last() int64 {
	last := v.stats.last()
	for _, at := range v.used().Last {
		last = max(last, at.UnixNano())
	}
	return last
}

// isOpen reports whether a websocket is open, here or at the machine.
func (v *Version) isOpen() bool { return v.stats.isOpen() || v.used().Websockets > 0 }

// Unshare takes the production host of a project from machines that admit requests themselves, until
// Share. The requests of other gateways pass this server meanwhile.
func (r *Router) Unshare(id string) {
	r.setProject(id, func(*project) {}).gate.SetShared(false)
	r.share(id)
}

// Share ends Unshare.
func (r *Router) Share(id string) {
	if p := r.table.Load().project(id); p != nil {
		p.gate.SetShared(true)
		r.share(id)
	}
}

// SettleProduction waits until no machine admits requests for the production host of a project by
// itself by a grant that was revoked: a machine that does not answer admits none when its permit
// has ended. It also waits for the permits of a server before this one. ctx bounds the wait.
func (r *Router) SettleProduction(ctx context.Context, id string) error {
	if err := r.awaitInherited(ctx); err != nil {
		return err
	}
	p := r.table.Load().project(id)
	if p == nil {
		return nil
	}
	return p.gate.Settle(ctx)
}

// awaitInherited waits until the permits of an earlier server have ended.
func (r *Router) awaitInherited(ctx context.Context) error {
	return backoff.Sleep(ctx, time.Until(r.cfg.Inherited))
}

// shares reports whether the machine of v, which may be nil, admits production's requests itself.
// Router.mu must be held.
func (v *Version) shares() bool {
	return v != nil && v.upstream != nil && v.upstream.delegated != nil && v.upstream.delegated.grants[svc.RoleProduction] != nil
}

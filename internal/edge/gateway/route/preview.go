package route

import (
	"github.com/svcctl/svcctl/internal/edge/gateway/gate"
	"github.com/svcctl/svcctl/internal/svc"
)

// SetPreview makes version the target of the host name of a preview name; "" removes
// the host name.
func (r *Router) SetPreview(owner, name, version string) {
	if version == "" {
		r.removePreview(svc.Ref{Project: owner, Version: name})
		return
	}
	r.setPreview(svc.Ref{Project: owner, Version: name}, func(p *project) { p.prod = version })
}

// HoldPreview makes new requests of a preview name wait, until ReleasePreview or
// Config.HoldTimeout. Requests that were claimed continue.
func (r *Router) HoldPreview(owner, name string) {
	r.setPreview(svc.Ref{Project: owner, Version: name}, func(*project) {}).gate.Hold()
}

// ReleasePreview ends the wait of the requests of a preview name; they reach the version
// of the last SetPreview. Without a hold it does nothing.
func (r *Router) ReleasePreview(owner, name string) {
	if p := r.table.Load().preview(svc.Ref{Project: owner, Version: name}); p != nil {
		p.gate.Release()
	}
}

// setPreview stores a changed copy of a preview name, which it creates if necessary.
func (r *Router) setPreview(id svc.Ref, change func(*project)) *project {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &project{id: id.Project, name: id.Version, host: r.cfg.Ingress.PreviewHost(id), gate: gate.New()}
	if old := r.table.Load().preview(id); old != nil {
		*p = *old
	}
	change(p)
	r.table.Store(r.table.Load().with(func(t *table) { t.setPreview(p) }))
	return p
}

// removePreview removes a preview name; requests that wait are answered.
func (r *Router) removePreview(id svc.Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.table.Load().preview(id)
	if old == nil {
		return
	}
	r.table.Store(r.table.Load().with(func(t *table) { t.removePreview(old) }))
	old.gate.Release()
}

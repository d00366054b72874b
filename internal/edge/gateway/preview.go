package gateway

import "github.com/svcctl/svcctl/internal/svc"

// SetPreview makes version the target of the host name of a preview name; "" removes
// the host name.
func (g *Gateway) SetPreview(owner, name, version string) {
	if version == "" {
		g.removePreview(svc.Ref{Project: owner, Version: name})
		return
	}
	g.setPreview(svc.Ref{Project: owner, Version: name}, func(p *project) { p.prod = version })
}

// HoldPreview makes new requests of a preview name wait, until ReleasePreview or
// Config.HoldTimeout. Requests that were claimed continue.
func (g *Gateway) HoldPreview(owner, name string) {
	g.setPreview(svc.Ref{Project: owner, Version: name}, func(*project) {}).gate.hold()
}

// ReleasePreview ends the wait of the requests of a preview name; they reach the version
// of the last SetPreview. Without a hold it does nothing.
func (g *Gateway) ReleasePreview(owner, name string) {
	if p := g.table.Load().preview(svc.Ref{Project: owner, Version: name}); p != nil {
		p.gate.release()
	}
}

// setPreview stores a changed copy of a preview name, which it creates if necessary.
func (g *Gateway) setPreview(id svc.Ref, change func(*project)) *project {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := &project{id: id.Project, name: id.Version, host: g.cfg.Ingress.PreviewHost(id), gate: newGate()}
	if old := g.table.Load().preview(id); old != nil {
		*p = *old
	}
	change(p)
	g.table.Store(g.table.Load().with(func(t *table) { t.setPreview(p) }))
	return p
}

// removePreview removes a preview name; requests that wait are answered.
func (g *Gateway) removePreview(id svc.Ref) {
	g.mu.Lock()
	defer g.mu.Unlock()
	old := g.table.Load().preview(id)
	if old == nil {
		return
	}
	g.table.Store(g.table.Load().with(func(t *table) { t.removePreview(old) }))
	old.gate.release()
}

package route

import (
	"bytes"

	"github.com/svcctl/svcctl/internal/svc"
)

// SetDomain makes a host name of another domain a further name of a project.
func (r *Router) SetDomain(d svc.DomainRoute) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.table.Store(r.table.Load().with(func(t *table) {
		t.domains.set(shardOfName(d.Host), d.Host, d)
		t.hasDomains = true
	}))
}

// RemoveDomain removes a host name of SetDomain.
func (r *Router) RemoveDomain(host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.table.Store(r.table.Load().with(func(t *table) { t.domains.remove(shardOfName(host), host) }))
}

// resolveDomain returns the route of a host name of another domain. Its own row precedes the wildcard of its
// parent. It allocates no memory.
func (t *table) resolveDomain(host []byte) (route, bool) {
	d, ok := t.domains[shardOfName(host)][string(host)]
	wildcard := false
	if dot := bytes.IndexByte(host, '.'); !ok && dot > 0 {
		var buf [256]byte
		wild := append(append(buf[:0], '*'), host[dot:]...)
		d, ok = t.domains[shardOfName(wild)][string(wild)]
		wildcard = ok
	}
	if !ok {
		return route{}, false
	}
	r, found := t.domainRoute(d)
	r.isWildcard = wildcard
	return r, found
}

// domainRoute returns where a host name of another domain leads.
func (t *table) domainRoute(d svc.DomainRoute) (route, bool) {
	if d.Redirect != "" {
		return route{redirect: d.Redirect}, true
	}
	ref := svc.Ref{Project: d.Project, Version: d.Target}
	if d.Target == "" {
		p := t.project(d.Project)
		if p == nil {
			return route{}, false
		}
		return t.routeOf(p), true
	}
	if v := t.version(ref); v != nil {
		return route{role: svc.RolePreview, version: v}, true
	}
	if p := t.preview(ref); p != nil {
		return t.routeOf(p), true
	}
	return route{}, false
}

// Redirect is the error for a host name that leads to another one.
type Redirect struct{ Host string }

func (m *Redirect) Error() string { return "the host leads to " + m.Host }

func errRedirect(host string) *svc.Error {
	return svc.Errorf(svc.NotFound, svc.CodeDomainRedirected, "this host leads to %s", host).Because(&Redirect{Host: host})
}

package route

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/gate"
	"github.com/svcctl/svcctl/internal/svc"
)

// table holds all routes. It never changes; a changed copy replaces it. If one host name
// belongs to several, production precedes a version, which precedes a preview name, which precedes an own
// domain.
type table struct {
	versions shards[svc.Ref, *Version]
	projects shards[string, *project]
	previews shards[svc.Ref, *project] // by project and preview name

	// By lower-case host name.
	productionHosts shards[string, *project]
	versionHosts    shards[string, *Version]
	previewHosts    shards[string, *project]

	domains    shards[string, svc.DomainRoute] // by host name, or "*." and a domain
	hasDomains bool                            // whether there was one: without, no request looks for it
}

// route is the target of a host. A production route without a version belongs to a
// project that has no production version yet.
type route struct {
	role    svc.Role
	version *Version
	project *project // of a host name that changes its version: production's, or a preview name's

	redirect   string // the host that visitors are sent to; "" for none
	isWildcard bool   // the host is one of all below a domain
}

// Version is one version in one state.
type Version struct {
	Ref      svc.Ref
	host     string
	State    svc.Upstream
	upstream *Upstream // nil if no runtime listens
	site     *lazySite // nil if assets are not served
	stats    *stats
	Replaced chan struct{} // closed when another table holds the next state of the version
	roused   *atomic.Bool  // whether a request has asked for the runtime of a version that sleeps
}

// project is a host name that changes its version, and that version: production, or a
// preview name.
type project struct {
	id   string
	name string // of the preview; "" for production
	host string
	prod string // version id; "" for none
	gate *gate.Gate
}

// stats are shared by all states of a version.
type stats struct {
	preview, production roleStats
	reported            atomic.Int64 // the last request that LastRequests returned

	relayed atomic.Int64 // open websockets of other gateways

	retired []*Upstream // that may still serve requests; Router.mu guards it

	mu         sync.Mutex
	websockets map[*Websocket]struct{} // that are open
}

type roleStats struct {
	inflight atomic.Int64
	last     atomic.Int64 // unix nanoseconds of the last request, 0 for none
}

func (s *stats) of(role svc.Role) *roleStats {
	if role == svc.RoleProduction {
		return &s.production
	}
	return &s.preview
}

// last is the time of the last request in any role, in unix nanoseconds, 0 for never.
func (s *stats) last() int64 { return max(s.preview.last.Load(), s.production.last.Load()) }

// isOpen reports whether a websocket is open.
func (s *stats) isOpen() bool { return s.relayed.Load() > 0 || len(s.listWebsockets("")) > 0 }

func (r *roleStats) lastTime() time.Time {
	n := r.last.Load()
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}

// with returns a copy of t after change.
func (t *table) with(change func(*table)) *table {
	n := *t
	change(&n)
	return &n
}

func (t *table) version(ref svc.Ref) *Version { return t.versions[shardOf(ref)][ref] }
func (t *table) project(id string) *project   { return t.projects[shardOfName(id)][id] }
func (t *table) preview(id svc.Ref) *project  { return t.previews[shardOf(id)][id] }

func (t *table) setVersion(v *Version) {
	t.versions.set(shardOf(v.Ref), v.Ref, v)
	t.versionHosts.set(shardOfName(v.host), v.host, v)
}

func (t *table) removeVersion(v *Version) {
	t.versions.remove(shardOf(v.Ref), v.Ref)
	t.versionHosts.remove(shardOfName(v.host), v.host)
}

func (t *table) setProject(p *project) {
	t.projects.set(shardOfName(p.id), p.id, p)
	t.productionHosts.set(shardOfName(p.host), p.host, p)
}

func (t *table) setPreview(p *project) {
	id := svc.Ref{Project: p.id, Version: p.name}
	t.previews.set(shardOf(id), id, p)
	t.previewHosts.set(shardOfName(p.host), p.host, p)
}

func (t *table) removePreview(p *project) {
	id := svc.Ref{Project: p.id, Version: p.name}
	t.previews.remove(shardOf(id), id)
	t.previewHosts.remove(shardOfName(p.host), p.host)
}

// resolve returns the route of a host name in lower case. It allocates no memory.
func (t *table) resolve(host []byte) (route, bool) {
	i := shardOfName(host)
	if p := t.productionHosts[i][string(host)]; p != nil {
		return t.routeOf(p), true
	}
	if v := t.versionHosts[i][string(host)]; v != nil {
		return route{role: svc.RolePreview, version: v}, true
	}
	if p := t.previewHosts[i][string(host)]; p != nil {
		return t.routeOf(p), true
	}
	if t.hasDomains {
		return t.resolveDomain(host)
	}
	return route{}, false
}

// routeOf returns the route of a host name that changes its version.
func (t *table) routeOf(p *project) route {
	r := route{role: svc.RoleProduction, version: t.version(svc.Ref{Project: p.id, Version: p.prod}), project: p}
	if p.name != "" {
		r.role = svc.RolePreview
	}
	return r
}

// hosts returns the routes of all host names.
func (t *table) hosts() map[string]route {
	hosts := map[string]route{}
	for host, d := range t.domains.all {
		if to, ok := t.domainRoute(d); ok {
			hosts[host] = to
		}
	}
	for host, p := range t.previewHosts.all {
		hosts[host] = t.routeOf(p)
	}
	for host, v := range t.versionHosts.all {
		hosts[host] = route{role: svc.RolePreview, version: v}
	}
	for host, p := range t.productionHosts.all {
		hosts[host] = t.routeOf(p)
	}
	return hosts
}

// lookup finds the host of a request: case, a port and a trailing dot do not matter
// [D3]. It allocates no memory.
func (t *table) lookup(host []byte) (route, bool) {
	var buf [256]byte
	name := buf[:0]
	for _, c := range host {
		if c == ':' {
			break
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if len(name) == len(buf) {
			return route{}, false
		}
		name = append(name, c)
	}
	if n := len(name); n > 0 && name[n-1] == '.' {
		name = name[:n-1]
	}
	return t.resolve(name)
}

package gateway

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// table holds all routes. It never changes; a changed copy replaces it.
type table struct {
	hosts    map[string]route // both roles, by lower-case host name
	versions map[svc.Ref]*version
	projects map[string]*project
	previews map[svc.Ref]*project // by project and preview name
}

// route is the target of a host. A production route without a version belongs to a
// project that has no production version yet.
type route struct {
	role    svc.Role
	version *version
	project *project // of a host name that changes its version: production's, or a preview name's
}

// version is one version in one state.
type version struct {
	ref      svc.Ref
	host     string
	state    svc.Upstream
	upstream *upstream // nil if no runtime listens
	site     *site     // nil if assets are not served
	stats    *stats
	replaced chan struct{} // closed when another table holds the next state of the version
	roused   *atomic.Bool  // whether a request has asked for the runtime of a version that sleeps
}

// project is a host name that changes its version, and that version: production, or a
// preview name.
type project struct {
	id   string
	name string // of the preview; "" for production
	host string
	prod string // version id; "" for none
	gate *gate
}

// stats are shared by all states of a version.
type stats struct {
	preview, production roleStats
	reported            atomic.Int64 // the last request that LastRequests returned

	retired []*upstream // that may still serve requests; Gateway.mu guards it

	mu      sync.Mutex
	tunnels map[*tunnel]struct{} // open websockets
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

func (r *roleStats) lastTime() time.Time {
	n := r.last.Load()
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}

func emptyTable() *table {
	return &table{hosts: map[string]route{}, versions: map[svc.Ref]*version{}, projects: map[string]*project{}, previews: map[svc.Ref]*project{}}
}

// with returns a copy of t after change, with its hosts computed again.
func (t *table) with(change func(*table)) *table {
	n := &table{versions: maps.Clone(t.versions), projects: maps.Clone(t.projects), previews: maps.Clone(t.previews)}
	change(n)
	n.hosts = make(map[string]route, len(n.versions)+len(n.projects)+len(n.previews))
	for _, p := range n.previews {
		n.hosts[p.host] = route{svc.RolePreview, n.versions[svc.Ref{Project: p.id, Version: p.prod}], p}
	}
	for _, v := range n.versions {
		n.hosts[v.host] = route{role: svc.RolePreview, version: v}
	}
	for _, p := range n.projects {
		n.hosts[p.host] = route{svc.RoleProduction, n.versions[svc.Ref{Project: p.id, Version: p.prod}], p}
	}
	return n
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
	r, ok := t.hosts[string(name)]
	return r, ok
}

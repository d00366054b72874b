package route

import (
	"cmp"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Routes lists every host with a known version, sorted by host [D30].
func (r *Router) Routes() []svc.Route {
	hosts := r.table.Load().hosts()
	infos := make([]svc.Route, 0, len(hosts))
	for host, to := range hosts {
		if to.version == nil {
			continue
		}
		s := to.version.stats
		infos = append(infos, svc.Route{
			Host: host, Role: to.role, Ref: to.version.Ref, Upstream: to.version.State,
			Inflight:   int(s.of(to.role).inflight.Load()) + to.version.used().Requests[to.role],
			Websockets: len(s.listWebsockets(to.role)),

			LastRequestAt: later(s.of(to.role).lastTime(), to.version.used().Last[to.role]),
		})
	}
	slices.SortFunc(infos, func(a, b svc.Route) int { return cmp.Compare(a.Host, b.Host) })
	return infos
}

// Serves reports whether a host name in lower case belongs to a version, or leads to another one, by a name of
// its own: each label below a wildcard would be an order of a certificate. It takes no lock.
func (r *Router) Serves(host string) bool {
	to, ok := r.table.Load().resolve([]byte(host))
	return ok && !to.isWildcard && (to.version != nil || to.redirect != "")
}

// LastRequests returns the time of the last request for each version that had one
// since the last call. An open websocket counts as a request now [D24].
func (r *Router) LastRequests() map[svc.Ref]time.Time {
	out := map[svc.Ref]time.Time{}
	for ref, v := range r.table.Load().versions.all {
		last := v.last()
		if v.isOpen() {
			last = time.Now().UnixNano()
		}
		if last > v.stats.reported.Swap(last) {
			out[ref] = time.Unix(0, last)
		}
	}
	return out
}

// LastUse returns the time of the last request to a version, now if one is in
// progress or a websocket is open [D24]; the zero time if there was none since the
// start of the gateway.
func (r *Router) LastUse(ref svc.Ref) time.Time {
	v := r.table.Load().version(ref)
	switch {
	case v == nil:
		return time.Time{}
	case v.stats.preview.inflight.Load()+v.stats.production.inflight.Load() > 0, v.used().inProgress() > 0, v.isOpen():
		return time.Now()
	}
	return r.LastRequest(ref)
}

// LastRequest returns when the last request to a version began, the zero time if there was none since
// the start of the gateway.
func (r *Router) LastRequest(ref svc.Ref) time.Time {
	v := r.table.Load().version(ref)
	if v == nil || v.last() == 0 {
		return time.Time{}
	}
	return time.Unix(0, v.last())
}

// wantedFor is how long a version is wanted after a request.
const wantedFor = time.Hour

// IsWanted reports whether ref is the production version of its project, or had a
// request within the last hour.
func (r *Router) IsWanted(ref svc.Ref) bool {
	t := r.table.Load()
	if p := t.project(ref.Project); p != nil && p.prod == ref.Version {
		return true
	}
	v := t.version(ref)
	return v != nil && time.Since(time.Unix(0, v.last())) < wantedFor
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

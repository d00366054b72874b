package gateway

import (
	"cmp"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Routes lists every host with a known version, sorted by host [D30].
func (g *Gateway) Routes() []svc.Route {
	hosts := g.table.Load().hosts()
	infos := make([]svc.Route, 0, len(hosts))
	for host, r := range hosts {
		if r.version == nil {
			continue
		}
		s := r.version.stats
		infos = append(infos, svc.Route{
			Host: host, Role: r.role, Ref: r.version.ref, Upstream: r.version.state,
			Inflight:   int(s.of(r.role).inflight.Load()) + r.version.used().Requests[r.role],
			Websockets: len(s.listTunnels(r.role)),

			LastRequestAt: later(s.of(r.role).lastTime(), r.version.used().Last[r.role]),
		})
	}
	slices.SortFunc(infos, func(a, b svc.Route) int { return cmp.Compare(a.Host, b.Host) })
	return infos
}

// Serves reports whether a host name in lower case belongs to a version. It takes no lock.
func (g *Gateway) Serves(host string) bool {
	r, ok := g.table.Load().resolve([]byte(host))
	return ok && r.version != nil
}

// LastRequests returns the time of the last request for each version that had one
// since the last call. An open websocket counts as a request now [D24].
func (g *Gateway) LastRequests() map[svc.Ref]time.Time {
	out := map[svc.Ref]time.Time{}
	for ref, v := range g.table.Load().versions.all {
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
func (g *Gateway) LastUse(ref svc.Ref) time.Time {
	v := g.table.Load().version(ref)
	switch {
	case v == nil:
		return time.Time{}
	case v.stats.preview.inflight.Load()+v.stats.production.inflight.Load() > 0, v.used().inProgress() > 0, v.isOpen():
		return time.Now()
	}
	return g.LastRequest(ref)
}

// LastRequest returns when the last request to a version began, the zero time if there was none since
// the start of the gateway.
func (g *Gateway) LastRequest(ref svc.Ref) time.Time {
	v := g.table.Load().version(ref)
	if v == nil || v.last() == 0 {
		return time.Time{}
	}
	return time.Unix(0, v.last())
}

// wantedFor is how long a version is wanted after a request.
const wantedFor = time.Hour

// IsWanted reports whether ref is the production version of its project, or had a
// request within the last hour.
func (g *Gateway) IsWanted(ref svc.Ref) bool {
	t := g.table.Load()
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

// Inflight is the number of requests that are in progress or held, without
// websockets.
func (g *Gateway) Inflight() int { return int(g.inflight.Load()) }

// Requests is the number of requests that have ended since the start of the gateway.
func (g *Gateway) Requests() uint64 { return g.requests.Load() }

// Websockets is the number of open websockets.
func (g *Gateway) Websockets() int { return int(g.websockets.Load()) }

package routefeed

import (
	"crypto/rand"
	"crypto/subtle"
	"slices"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// maxChanges is the number of changes that the log keeps.
const maxChanges = 4096

// Gateway is what changes of routes are applied to.
type Gateway interface {
	SetVersion(ref svc.Ref, u svc.Upstream)
	RemoveVersion(ref svc.Ref)
	SetProduction(project, version string)
	Hold(project string)
	Release(project string)
	SetPreview(project, name, version string)
	HoldPreview(project, name string)
	ReleasePreview(project, name string)
	CloseWebsockets(ref svc.Ref, role svc.Role, after time.Duration)
	SetDomain(d svc.DomainRoute)
	RemoveDomain(host string)
}

// Log applies changes of routes to a gateway and keeps them for others.
type Log struct {
	gateway   Gateway
	hosts     svc.IngressConfig
	hasAssets func(bundleDir string) (bool, error)

	mu         sync.Mutex
	generation uint64
	changed    chan struct{} // closed at the next change
	changes    []Line        // the last ones, the newest last
	last       *snapshot     // that was made within snapshotFor; nil for none
	versions   map[svc.Ref]*entry
	names      map[svc.Ref]Line // by project and preview name; "" for production
	domains    map[string]svc.DomainRoute
}

// entry is a version in the log.
type entry struct {
	state  State
	dir    string // of the bundle that assets is of; "" if it is not known yet
	assets bool
	pass   string // key for requests that pass the server's own gateway
}

var _ Gateway = (*Log)(nil)

// NewLog returns a log in front of a gateway without routes. hasAssets reports whether a bundle
// has static files, which only the server has. After an error it is asked again at the next change of
// the version: the bundle may be fetched later. Until then the version counts as one with static files.
func NewLog(gateway Gateway, hosts svc.IngressConfig, hasAssets func(bundleDir string) (bool, error)) *Log {
	return &Log{
		gateway: gateway, hosts: hosts, hasAssets: hasAssets, generation: uint64(time.Now().UnixMicro()),
		changed: make(chan struct{}), versions: map[svc.Ref]*entry{}, names: map[svc.Ref]Line{}, domains: map[string]svc.DomainRoute{},
	}
}

// Generation returns the generation of the routes.
func (l *Log) Generation() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.generation
}

// change applies a change to the gateway, and logs the line that record returns, unless its
// kind is "".
func (l *Log) change(apply func(), record func() Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	apply()
	line := record()
	if line.Kind == "" {
		return
	}
	l.generation++
	line.Generation = l.generation
	if len(l.changes) == maxChanges {
		l.changes = slices.Delete(l.changes, 0, maxChanges/4)
	}
	l.changes = append(l.changes, line)
	close(l.changed)
	l.changed = make(chan struct{})
}

// SetVersion implements Gateway.
func (l *Log) SetVersion(ref svc.Ref, u svc.Upstream) {
	l.change(func() { l.gateway.SetVersion(ref, u) }, func() Line {
		e := l.versions[ref]
		if e == nil {
			e = &entry{pass: rand.Text()}
			l.versions[ref] = e
		}
		if u.BundleDir != e.dir || e.dir == "" {
			l.look(e, u.BundleDir)
		}
		next := stateOf(u, e)
		if next == e.state {
			return Line{}
		}
		e.state = next
		return e.line(ref)
	})
}

// look notes whether the bundle of e has static files. l.mu must be held.
func (l *Log) look(e *entry, dir string) {
	if e.dir, e.assets = dir, false; dir == "" {
		return
	}
	has, err := l.hasAssets(dir)
	if e.assets = has || err != nil; err != nil {
		e.dir = ""
	}
}

// stateOf is the state of a version for other machines. Requests to one with static files pass
// the server's own gateway, which knows whether its runtime starts or sleeps. So do those to one of a
// read-only project, which that gateway may refuse.
func stateOf(u svc.Upstream, e *entry) State {
	if (e.assets || u.ReadOnly) && u.Status.Serves() {
		return State{Status: u.Status, Through: true, Key: e.pass}
	}
	s := State{Status: u.Status, Starting: u.Starting, Planned: u.Planned, Asleep: u.Asleep, RetryAt: u.RetryAt.UTC().Round(0)}
	if u.Socket != "" && !u.Starting {
		s.Key, s.Direct, s.Pin = u.PortKey, u.Direct, u.DirectPin
	}
	return s
}

func (e *entry) line(ref svc.Ref) Line {
	state := e.state
	return Line{Kind: kindVersion, Project: ref.Project, Version: ref.Version, State: &state}
}

// Passes reports whether requests to a version with this key pass the server's own gateway.
func (l *Log) Passes(ref svc.Ref, key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.versions[ref]
	return e != nil && e.state.Through && subtle.ConstantTimeCompare([]byte(e.pass), []byte(key)) == 1
}

// known returns those of refs that have routes.
func (l *Log) known(refs []svc.Ref) []svc.Ref {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(refs, func(ref svc.Ref) bool { return l.versions[ref] == nil })
}

// RemoveVersion implements Gateway.
func (l *Log) RemoveVersion(ref svc.Ref) {
	l.change(func() { l.gateway.RemoveVersion(ref) }, func() Line {
		if l.versions[ref] == nil {
			return Line{}
		}
		delete(l.versions, ref)
		return Line{Kind: kindRemove, Project: ref.Project, Version: ref.Version}
	})
}

// SetProduction implements Gateway.
func (l *Log) SetProduction(project, version string) {
	l.change(func() { l.gateway.SetProduction(project, version) }, func() Line {
		return l.name(project, "", func(n *Line) { n.Version = version })
	})
}

// Hold implements Gateway.
func (l *Log) Hold(project string) {
	l.change(func() { l.gateway.Hold(project) }, func() Line {
		return l.name(project, "", func(n *Line) { n.Held = true })
	})
}

// Release implements Gateway.
func (l *Log) Release(project string) {
	l.change(func() { l.gateway.Release(project) }, func() Line {
		return l.name(project, "", func(n *Line) { n.Held = false })
	})
}

// SetPreview implements Gateway.
func (l *Log) SetPreview(project, name, version string) {
	l.change(func() { l.gateway.SetPreview(project, name, version) }, func() Line {
		return l.name(project, name, func(n *Line) {
			if n.Version = version; version == "" {
				n.Held = false // the gateway ends the hold
			}
		})
	})
}

// HoldPreview implements Gateway.
func (l *Log) HoldPreview(project, name string) {
	l.change(func() { l.gateway.HoldPreview(project, name) }, func() Line {
		return l.name(project, name, func(n *Line) { n.Held = true })
	})
}

// ReleasePreview implements Gateway.
func (l *Log) ReleasePreview(project, name string) {
	l.change(func() { l.gateway.ReleasePreview(project, name) }, func() Line {
		return l.name(project, name, func(n *Line) { n.Held = false })
	})
}

// name changes a host name that changes its version, and returns its line, or one without a
// kind if it stays the same. A name without a version and without a hold is forgotten.
func (l *Log) name(project, name string, change func(*Line)) Line {
	id := svc.Ref{Project: project, Version: name}
	old := l.names[id]
	n := Line{Kind: kindProduction, Project: project, Preview: name, Version: old.Version, Held: old.Held}
	if name != "" {
		n.Kind = kindPreview
	}
	if change(&n); n.Version == old.Version && n.Held == old.Held {
		return Line{}
	}
	if l.names[id] = n; n.Version == "" && !n.Held {
		delete(l.names, id)
	}
	return n
}

// CloseWebsockets implements Gateway.
func (l *Log) CloseWebsockets(ref svc.Ref, role svc.Role, after time.Duration) {
	l.change(func() { l.gateway.CloseWebsockets(ref, role, after) }, func() Line {
		return Line{Kind: kindWebsockets, Project: ref.Project, Version: ref.Version, Role: role, After: after}
	})
}

// SetDomain implements Gateway.
func (l *Log) SetDomain(d svc.DomainRoute) {
	l.change(func() { l.gateway.SetDomain(d) }, func() Line {
		if l.domains[d.Host] == d {
			return Line{}
		}
		l.domains[d.Host] = d
		return Line{Kind: kindDomain, Domain: &d}
	})
}

// RemoveDomain implements Gateway.
func (l *Log) RemoveDomain(host string) {
	l.change(func() { l.gateway.RemoveDomain(host) }, func() Line {
		if _, ok := l.domains[host]; !ok {
			return Line{}
		}
		delete(l.domains, host)
		return Line{Kind: kindNoDomain, Domain: &svc.DomainRoute{Host: host}}
	})
}

// all returns all routes as lines, without the last one, of kindReady. l.mu must be held.
func (l *Log) all() []Line {
	hosts := l.hosts
	lines := make([]Line, 0, len(l.versions)+len(l.names)+len(l.domains)+1)
	lines = append(lines, Line{Kind: kindAll, Hosts: &hosts})
	for ref, e := range l.versions {
		lines = append(lines, e.line(ref))
	}
	for _, n := range l.names {
		lines = append(lines, n)
	}
	for _, d := range l.domains {
		lines = append(lines, Line{Kind: kindDomain, Domain: &d})
	}
	return lines
}

// next is what a gateway is sent: all routes or nil, and changes after it. With neither, wait is closed
// at the next change.
type next struct {
	all        *snapshot
	changes    []Line
	generation uint64 // that it leads to
	wait       <-chan struct{}
}

// after returns what follows a generation: all routes if the log has not kept the changes, or if the
// generation is 0.
func (l *Log) after(generation uint64) next {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := next{generation: l.generation, wait: l.changed}
	if generation != 0 && l.generation-generation <= uint64(len(l.changes)) {
		n.changes = l.since(generation)
		return n
	}
	n.all = l.snapshot()
	// Routes are complete only with the changes since the snapshot: requests that wait for a generation
	// continue after this line.
	n.changes = append(l.since(n.all.generation), Line{Kind: kindReady, Generation: l.generation})
	return n
}

// since returns the changes after a generation, which the log must have kept. l.mu must be held.
func (l *Log) since(generation uint64) []Line {
	return slices.Clone(l.changes[uint64(len(l.changes))-(l.generation-generation):])
}

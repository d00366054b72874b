package routefeed

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// websocketGrace is how long websockets of a version stay open that was production when the
// server was last heard of, and is not any more.
const websocketGrace = 30 * time.Second

// ErrHosts says that the server has other host names than before: the gateway has to be
// started again.
var ErrHosts = errors.New("the form of host names has changed")

// errOrder is a stream whose lines do not follow each other.
var errOrder = errors.New("malformed stream of routes")

// Table applies lines to a gateway and knows the generation of its routes.
type Table struct {
	create func(svc.IngressConfig) (Gateway, error)

	gateway Gateway // nil before the first line
	hosts   svc.IngressConfig
	fresh   *fresh // the routes that arrive anew; nil between
	known   arrival

	mu         sync.Mutex
	generation uint64
	waiting    map[uint64]chan struct{}
}

// arrival is a set of routes: versions, and host names with their versions.
type arrival struct {
	versions map[svc.Ref]bool
	names    map[svc.Ref]string
	domains  map[string]bool
}

// fresh are routes that arrive anew. They are applied when all are there: the first ones may be older than what
// the gateway has, followed by the changes since.
type fresh struct {
	versions map[svc.Ref]*State
	names    map[svc.Ref]Line
	domains  map[string]svc.DomainRoute
	others   []Line // in their order
}

func newArrival() arrival {
	return arrival{versions: map[svc.Ref]bool{}, names: map[svc.Ref]string{}, domains: map[string]bool{}}
}

// NewTable returns a table without routes. create makes the gateway, once, when the form of
// host names is known.
func NewTable(create func(svc.IngressConfig) (Gateway, error)) *Table {
	return &Table{create: create, known: newArrival(), waiting: map[uint64]chan struct{}{}}
}

// Generation returns the generation of the routes, 0 before the first.
func (t *Table) Generation() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.generation
}

// closedChan is closed.
var closedChan = func() chan struct{} { ch := make(chan struct{}); close(ch); return ch }() //nolint:gochecknoglobals // a constant

// Newer returns a channel that is closed when the routes have at least this generation, and when
// all routes have arrived anew.
func (t *Table) Newer(generation uint64) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.generation >= generation {
		return closedChan
	}
	ch := t.waiting[generation]
	if ch == nil {
		ch = make(chan struct{})
		t.waiting[generation] = ch
	}
	return ch
}

// reach records the generation of the routes. anew says that all of them have arrived.
func (t *Table) reach(generation uint64, anew bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.generation = generation
	for g, ch := range t.waiting {
		if anew || g <= generation {
			close(ch)
			delete(t.waiting, g)
		}
	}
}

// Apply applies the next line of a stream. Only one goroutine may call it.
func (t *Table) Apply(l *Line) error {
	switch {
	case l.Kind == kindHeartbeat:
		return nil
	case l.Kind == kindAll && l.Hosts != nil:
		return t.begin(*l.Hosts)
	case t.gateway == nil || t.fresh == nil && t.Generation() == 0:
		return errOrder
	case l.Kind == kindReady && t.fresh != nil:
		t.replace(t.fresh)
		t.fresh = nil
		t.reach(l.Generation, true)
		return nil
	}
	if !l.isRoute() {
		return fmt.Errorf("%w: kind %q", errOrder, l.Kind)
	}
	if t.fresh != nil {
		t.fresh.add(l)
		return nil
	}
	t.set(l)
	t.reach(l.Generation, false)
	return nil
}

// sameHosts reports whether two forms lead to the same host names. The port is in URLs alone.
func sameHosts(a, b svc.IngressConfig) bool {
	a.Port = b.Port
	return a == b
}

// begin begins to take all routes anew. Those that there are stay in place meanwhile.
func (t *Table) begin(hosts svc.IngressConfig) (err error) {
	if t.gateway == nil {
		if t.gateway, err = t.create(hosts); err != nil {
			return err
		}
		t.hosts = hosts
	}
	if !sameHosts(hosts, t.hosts) {
		return ErrHosts
	}
	t.fresh = &fresh{versions: map[svc.Ref]*State{}, names: map[svc.Ref]Line{}, domains: map[string]svc.DomainRoute{}}
	return nil
}

// isRoute reports whether a line is about one route.
func (l *Line) isRoute() bool {
	switch l.Kind {
	case kindVersion:
		return l.State != nil
	case kindDomain, kindNoDomain:
		return l.Domain != nil
	case kindRemove, kindProduction, kindPreview, kindWebsockets:
		return true
	}
	return false
}

// id is that of a host name.
func (l *Line) id() svc.Ref { return svc.Ref{Project: l.Project, Version: l.Preview} }

// add adds a line about one route.
func (f *fresh) add(l *Line) {
	switch l.Kind {
	case kindVersion:
		f.versions[l.ref()] = l.State
	case kindRemove:
		delete(f.versions, l.ref())
	case kindProduction, kindPreview:
		f.names[l.id()] = *l
	case kindDomain:
		f.domains[l.Domain.Host] = *l.Domain
	case kindNoDomain:
		delete(f.domains, l.Domain.Host)
	default:
		f.others = append(f.others, *l)
	}
}

// replace applies all of f, and removes the routes that are not in it.
func (t *Table) replace(f *fresh) {
	before := t.known
	t.known = newArrival()
	for ref, state := range f.versions {
		t.set(&Line{Kind: kindVersion, Project: ref.Project, Version: ref.Version, State: state})
	}
	for id, l := range f.names {
		t.setName(&l, before.names[id])
	}
	for _, d := range f.domains {
		t.set(&Line{Kind: kindDomain, Domain: &d})
	}
	t.dropOthers(before)
	for i := range f.others {
		t.set(&f.others[i])
	}
}

// set applies a line about one route.
func (t *Table) set(l *Line) {
	switch l.Kind {
	case kindVersion:
		t.known.versions[l.ref()] = true
		t.gateway.SetVersion(l.ref(), l.State.upstream())
	case kindRemove:
		delete(t.known.versions, l.ref())
		t.gateway.RemoveVersion(l.ref())
	case kindProduction, kindPreview:
		t.setName(l, "")
	case kindDomain:
		t.known.domains[l.Domain.Host] = true
		t.gateway.SetDomain(*l.Domain)
	case kindNoDomain:
		delete(t.known.domains, l.Domain.Host)
		t.gateway.RemoveDomain(l.Domain.Host)
	default:
		t.gateway.CloseWebsockets(l.ref(), l.Role, l.After)
	}
}

// setName sets the version of a host name. A hold begins before and ends after it: requests
// never reach a version in between. missed is the version whose line the gateway has missed that ends its
// websockets, if it is another one; "" for none.
func (t *Table) setName(l *Line, missed string) {
	id := l.id()
	if t.known.names[id] = l.Version; l.Version == "" && !l.Held {
		delete(t.known.names, id)
	}
	if l.Kind == kindPreview {
		if l.Held {
			t.gateway.HoldPreview(l.Project, l.Preview)
		}
		if l.Version != "" || !l.Held {
			t.gateway.SetPreview(l.Project, l.Preview, l.Version)
		}
		if !l.Held {
			t.gateway.ReleasePreview(l.Project, l.Preview)
		}
		return
	}
	if l.Held {
		t.gateway.Hold(l.Project)
	}
	if missed != "" && missed != l.Version {
		t.gateway.CloseWebsockets(svc.Ref{Project: l.Project, Version: missed}, svc.RoleProduction, websocketGrace)
	}
	t.gateway.SetProduction(l.Project, l.Version)
	if !l.Held {
		t.gateway.Release(l.Project)
	}
}

// dropOthers removes the routes of before that are no more.
func (t *Table) dropOthers(before arrival) {
	for id := range before.names {
		if _, ok := t.known.names[id]; ok {
			continue
		}
		if id.Version != "" {
			t.gateway.SetPreview(id.Project, id.Version, "")
			continue
		}
		t.gateway.SetProduction(id.Project, "")
		t.gateway.Release(id.Project)
	}
	for host := range before.domains {
		if !t.known.domains[host] {
			t.gateway.RemoveDomain(host)
		}
	}
	for ref := range before.versions {
		if !t.known.versions[ref] {
			t.gateway.RemoveVersion(ref)
		}
	}
}

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
	fresh   *arrival // the routes that arrive anew; nil between
	known   arrival

	mu         sync.Mutex
	generation uint64
	waiting    map[uint64]chan struct{}
}

// arrival is a set of routes: versions, and host names with their versions.
type arrival struct {
	versions map[svc.Ref]bool
	names    map[svc.Ref]string
}

func newArrival() arrival {
	return arrival{versions: map[svc.Ref]bool{}, names: map[svc.Ref]string{}}
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
		t.dropOthers()
		t.known, t.fresh = *t.fresh, nil
		t.reach(l.Generation, true)
		return nil
	}
	if err := t.set(l); err != nil {
		return err
	}
	if t.fresh == nil {
		t.reach(l.Generation, false)
	}
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
	fresh := newArrival()
	t.fresh = &fresh
	return nil
}

// set applies a line about one route.
func (t *Table) set(l *Line) error {
	into := &t.known
	if t.fresh != nil {
		into = t.fresh
	}
	switch {
	case l.Kind == kindVersion && l.State != nil:
		into.versions[l.ref()] = true
		t.gateway.SetVersion(l.ref(), l.State.upstream())
	case l.Kind == kindRemove:
		delete(into.versions, l.ref())
		t.gateway.RemoveVersion(l.ref())
	case l.Kind == kindProduction, l.Kind == kindPreview:
		t.setName(l, into)
	case l.Kind == kindWebsockets:
		t.gateway.CloseWebsockets(l.ref(), l.Role, l.After)
	default:
		return fmt.Errorf("%w: kind %q", errOrder, l.Kind)
	}
	return nil
}

// setName sets the version of a host name. A hold begins before and ends after it: requests
// never reach a version in between.
func (t *Table) setName(l *Line, into *arrival) {
	id := svc.Ref{Project: l.Project, Version: l.Preview}
	if into.names[id] = l.Version; l.Version == "" && !l.Held {
		delete(into.names, id)
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
	if old := t.known.names[id]; t.fresh != nil && old != "" && old != l.Version { // the line that ends its websockets was missed
		t.gateway.CloseWebsockets(svc.Ref{Project: l.Project, Version: old}, svc.RoleProduction, websocketGrace)
	}
	t.gateway.SetProduction(l.Project, l.Version)
	if !l.Held {
		t.gateway.Release(l.Project)
	}
}

// dropOthers removes the routes that have not arrived.
func (t *Table) dropOthers() {
	for id := range t.known.names {
		if _, ok := t.fresh.names[id]; ok {
			continue
		}
		if id.Version != "" {
			t.gateway.SetPreview(id.Project, id.Version, "")
			continue
		}
		t.gateway.SetProduction(id.Project, "")
		t.gateway.Release(id.Project)
	}
	for ref := range t.known.versions {
		if !t.fresh.versions[ref] {
			t.gateway.RemoveVersion(ref)
		}
	}
}

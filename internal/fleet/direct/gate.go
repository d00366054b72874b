package direct

import (
	"context"
	"crypto/subtle"
	"net"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/relay"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// Gate admits the requests of one worker host. It admits none before Serve and a valid permit.
type Gate struct {
	mu     sync.Mutex // guards the fields below
	ref    svc.Ref
	key    string // of the runtime's start; "" before Serve
	socket string
	closed bool

	permit  control.Permit // without grants
	granted map[svc.Role]*grant
	grants  map[uint64]*grant // that are granted, or have requests in progress
	until   time.Time         // the permit is valid before it
	adopt   bool              // the next permit is the first of a line

	answers    uint64
	given      map[uint64]time.Time // when answers were given, of the last ones
	websockets int
	total      map[svc.Role]uint64
	used       map[svc.Role]time.Time // when the last request began
	change     chan struct{}          // closed and replaced when the requests of a grant have ended
}

// grant counts the requests that were admitted by it.
type grant struct {
	control.Grant

	requests int
	gone     bool   // it was revoked
	heir     *grant // that counts its requests; nil for none
}

// maxGiven is the number of answers whose times are kept.
const maxGiven = 16

// NewGate returns a gate that admits nothing.
func NewGate() *Gate {
	return &Gate{
		granted: map[svc.Role]*grant{}, grants: map[uint64]*grant{}, given: map[uint64]time.Time{}, total: map[svc.Role]uint64{}, used: map[svc.Role]time.Time{}, change: make(chan struct{}),
	}
}

// Serve says which version the gate leads to: its worker listens on a unix socket, and its start
// has a key.
func (g *Gate) Serve(ref svc.Ref, key, socket string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ref, g.key, g.socket = ref, key, socket
}

// Close makes the gate admit nothing any more. Idempotent.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// Line says that the next permit comes from a daemon that has just got a line.
func (g *Gate) Line() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.permit.Number, g.adopt = 0, true
}

// Admit claims the runtime for a request: see relay.Config.
func (g *Gate) Admit(a relay.Ask) (relay.Admission, error) { //nolint:ireturn // what relay.Config wants
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	of := g.granted[a.Role]
	if !g.isFor(a) || a.Preview != "" || g.closed || of == nil || !now.Before(g.until) {
		return nil, &relay.MovedError{Generation: g.permit.Generation}
	}
	if g.inProgress()+g.websockets >= g.permit.Limit {
		return nil, relay.ErrFull
	}
	of.requests++
	g.total[a.Role]++
	g.used[a.Role] = now
	return &admission{gate: g, grant: of}, nil
}

// isFor reports whether a names this version and has the key of its start. g.mu must be held.
func (g *Gate) isFor(a relay.Ask) bool {
	return g.key != "" && g.ref == a.Ref && subtle.ConstantTimeCompare([]byte(g.key), []byte(a.Key)) == 1
}

func (g *Gate) inProgress() (n int) {
	for _, of := range g.grants {
		n += of.requests
	}
	return n
}

// ended ends a request. g.mu must be held.
func (g *Gate) ended(of *grant) {
	for of.heir != nil {
		of = of.heir
	}
	of.requests--
	if of.requests > 0 || !of.gone {
		return
	}
	delete(g.grants, of.ID)
	close(g.change)
	g.change = make(chan struct{})
}

// admission is a request in progress, or a websocket.
type admission struct {
	gate   *Gate
	grant  *grant
	opened bool // as a websocket
	over   bool
}

// Dial implements relay.Admission.
func (a *admission) Dial(ctx context.Context) (net.Conn, error) {
	return relay.DialSocket(ctx, a.gate.socket)
}

// Same implements relay.Admission.
func (a *admission) Same(other relay.Admission) bool {
	b, ok := other.(*admission)
	return ok && a.gate == b.gate
}

// Opened implements relay.Admission.
func (a *admission) Opened() {
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	if !a.opened && !a.over {
		a.opened = true
		a.gate.websockets++
		a.gate.ended(a.grant)
	}
}

// Release implements relay.Admission.
func (a *admission) Release() {
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	switch {
	case a.over:
	case a.opened:
		a.gate.websockets--
	default:
		a.gate.ended(a.grant)
	}
	a.over = true
}

// Is reports whether a request names the version of the gate and has the key of its start. It
// compares the key in a time that does not depend on it.
func (g *Gate) Is(a relay.Ask) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.isFor(a)
}

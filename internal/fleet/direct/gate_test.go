package direct_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/direct"
	"github.com/svcctl/svcctl/internal/fleet/relay"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

var (
	shop = svc.Ref{Project: "shop", Version: "v1"}
	own  = relay.Ask{Ref: shop, Key: "key", Role: svc.RolePreview}
	prod = relay.Ask{Ref: shop, Key: "key", Role: svc.RoleProduction}
)

// valid is how long the permits of these tests are.
const valid = time.Minute

// line is a daemon's end.
type line struct {
	t      *testing.T
	gate   *direct.Gate
	ctx    context.Context
	end    context.CancelFunc
	number uint64
	heard  uint64
}

func newLine(t *testing.T, g *direct.Gate) *line {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	g.Line()
	return &line{t: t, gate: g, ctx: ctx, end: cancel}
}

// permit sends a permit that confirms the last answer.
func (l *line) permit(p control.Permit) control.Admitted {
	l.t.Helper()
	l.number++
	p.Number, p.Generation, p.For, p.Heard = l.number, l.number, valid, l.heard
	if p.Limit == 0 {
		p.Limit = 10
	}
	a, err := l.gate.Permit(l.ctx, p)
	if err != nil {
		l.t.Fatal(err)
	}
	l.heard = a.Answer
	return a
}

// open sends permits until they are valid.
func (l *line) open(grants ...control.Grant) {
	l.t.Helper()
	l.permit(control.Permit{Grants: grants})
	l.permit(control.Permit{Grants: grants})
}

var (
	grantOwn  = control.Grant{ID: 1, Role: svc.RolePreview}
	grantProd = control.Grant{ID: 2, Role: svc.RoleProduction}
)

func newGate() *direct.Gate {
	g := direct.NewGate()
	g.Serve(shop, "key", "/nowhere")
	return g
}

// generation returns the generation by which a request is refused; it fails if it is not.
func generation(t *testing.T, g *direct.Gate, a relay.Ask) uint64 {
	t.Helper()
	_, err := g.Admit(a)
	moved, ok := errors.AsType[*relay.MovedError](err)
	if !ok {
		t.Fatalf("%+v: %v, want that it is refused", a, err)
	}
	return moved.Generation
}

func admit(t *testing.T, g *direct.Gate, a relay.Ask) relay.Admission {
	t.Helper()
	adm, err := g.Admit(a)
	if err != nil {
		t.Fatalf("%+v: %v", a, err)
	}
	return adm
}

// TestGrants: a gate admits by the grants of its permit alone, with the key of the start, and says
// by which routes it refuses.
func TestGrants(t *testing.T) {
	t.Parallel()
	g := newGate()
	if n := generation(t, g, own); n != 0 {
		t.Errorf("refused by generation %d before the first permit", n)
	}
	l := newLine(t, g)
	l.open(grantOwn)
	admit(t, g, own).Release()
	for name, ask := range map[string]relay.Ask{
		"production":        prod,
		"a preview name":    {Ref: shop, Key: "key", Role: svc.RolePreview, Preview: "pr-1"},
		"another key":       {Ref: shop, Key: "kez", Role: svc.RolePreview},
		"no key":            {Ref: shop, Role: svc.RolePreview},
		"another version":   {Ref: svc.Ref{Project: "shop", Version: "v2"}, Key: "key", Role: svc.RolePreview},
		"an unknown role":   {Ref: shop, Key: "key", Role: "admin"},
		"a name and a role": {Ref: shop, Key: "key", Role: svc.RoleProduction, Preview: "pr-1"},
	} {
		if n := generation(t, g, ask); n != 2 {
			t.Errorf("%s: refused by generation %d", name, n)
		}
	}
	l.permit(control.Permit{Grants: []control.Grant{grantProd}})
	admit(t, g, prod).Release()
	if n := generation(t, g, own); n != 3 {
		t.Errorf("a grant that ended: refused by generation %d", n)
	}
	g.Close()
	generation(t, g, prod)
}

// TestValidity: a permit is valid for a time after an answer that the daemon has heard: however late
// the permit comes, and not at all before one was heard.
func TestValidity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		l := newLine(t, g)
		l.permit(control.Permit{Grants: []control.Grant{grantOwn}})
		generation(t, g, own) // nothing was heard
		time.Sleep(valid / 2) // the next permit is late
		l.permit(control.Permit{Grants: []control.Grant{grantOwn}})
		time.Sleep(valid/2 - 1)
		adm := admit(t, g, own)
		time.Sleep(time.Nanosecond)
		generation(t, g, own)
		if a := l.permit(control.Permit{Grants: []control.Grant{grantOwn}}); a.Requests[1] != 1 {
			t.Errorf("a request of before: %+v", a)
		}
		admit(t, g, own).Release() // the answer in the middle was heard
		adm.Release()
		l.heard = 1000 // an answer that was not given
		l.permit(control.Permit{Grants: []control.Grant{grantOwn}})
		time.Sleep(valid / 2)
		generation(t, g, own)
	})
}

// TestOrder: permits that arrive late change nothing, and those of a line that has ended are refused.
func TestOrder(t *testing.T) {
	t.Parallel()
	g := newGate()
	l := newLine(t, g)
	l.open(grantOwn, grantProd)
	late := control.Permit{Number: l.number, Grants: []control.Grant{grantOwn, grantProd}, Limit: 10, For: valid, Heard: l.heard}
	l.permit(control.Permit{Grants: []control.Grant{grantOwn}})
	if a, err := g.Permit(l.ctx, late); err != nil || a.Number != l.number {
		t.Errorf("%+v, %v: the answer to a late permit", a, err)
	}
	generation(t, g, prod)
	next := newLine(t, g)
	l.end()
	late.Number = 1000
	if _, err := g.Permit(l.ctx, late); !errors.Is(err, context.Canceled) {
		t.Errorf("a permit of a line that has ended: %v", err)
	}
	generation(t, g, prod)
	next.open(grantOwn) // its numbers begin again
	admit(t, g, own).Release()
}

// TestEnding: the daemon waits for the requests of a grant that was revoked, and only for those.
func TestEnding(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		l := newLine(t, g)
		l.open(grantOwn, grantProd)
		first, second := admit(t, g, prod), admit(t, g, prod)
		other := admit(t, g, own)
		if a := l.permit(control.Permit{Grants: []control.Grant{grantOwn}, Ending: []uint64{2}}); a.Requests[2] != 2 || a.Roles[svc.RoleProduction] != 2 || a.Requests[1] != 1 {
			t.Errorf("%+v", a)
		}
		began := time.Now()
		if a := l.permit(control.Permit{Grants: []control.Grant{grantOwn}, Ending: []uint64{2}, Wait: time.Second}); a.Requests[2] != 2 || time.Since(began) != time.Second {
			t.Errorf("%+v after %s", a, time.Since(began))
		}
		first.Release()
		first.Release()
		go func() { time.Sleep(time.Second / 2); second.Release() }()
		began = time.Now()
		if a := l.permit(control.Permit{Grants: []control.Grant{grantOwn}, Ending: []uint64{2}, Wait: time.Second}); a.Requests[2] != 0 || time.Since(began) != time.Second/2 {
			t.Errorf("%+v after %s", a, time.Since(began))
		}
		other.Release()
	})
}

// TestNextDaemon: the first permit of another daemon counts the requests that it did not let in as those
// of its own grants.
func TestNextDaemon(t *testing.T) {
	t.Parallel()
	g := newGate()
	l := newLine(t, g)
	l.open(grantOwn, grantProd)
	a, b := admit(t, g, own), admit(t, g, prod)
	l.permit(control.Permit{Grants: []control.Grant{grantOwn}, Ending: []uint64{2}})
	next := newLine(t, g)
	admit(t, g, own).Release() // by the permit of before
	if got := next.permit(control.Permit{Grants: []control.Grant{{ID: 7, Role: svc.RolePreview}}}); got.Requests[7] != 2 || len(got.Requests) != 1 {
		t.Errorf("%+v", got)
	}
	b.Release()
	if got := next.permit(control.Permit{Grants: nil, Ending: []uint64{7}}); got.Requests[7] != 1 {
		t.Errorf("%+v", got)
	}
	a.Release()
	if got := next.permit(control.Permit{}); len(got.Requests) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestLimit: requests and websockets together do not exceed the limit, and a websocket is no request.
func TestLimit(t *testing.T) {
	t.Parallel()
	g := newGate()
	l := newLine(t, g)
	l.open(grantOwn, grantProd)
	l.permit(control.Permit{Grants: []control.Grant{grantOwn, grantProd}, Limit: 2})
	socket := admit(t, g, own)
	socket.Opened()
	request := admit(t, g, prod)
	if _, err := g.Admit(own); !errors.Is(err, relay.ErrFull) {
		t.Errorf("the third: %v", err)
	}
	if a := l.permit(control.Permit{Grants: []control.Grant{grantOwn, grantProd}, Limit: 2}); a.Requests[1] != 0 || a.Websockets != 1 || a.Total[svc.RolePreview] != 1 || a.Total[svc.RoleProduction] != 1 {
		t.Errorf("%+v", a)
	}
	request.Release()
	socket.Release()
	if a := l.permit(control.Permit{}); a.Websockets != 0 || len(a.Requests) != 0 {
		t.Errorf("%+v", a)
	}
}

// TestGates finds the gate of a request by its key.
func TestGates(t *testing.T) {
	t.Parallel()
	s := direct.NewGates()
	g, other := newGate(), direct.NewGate()
	other.Serve(shop, "another key", "/nowhere")
	s.Add(other)
	s.Add(g)
	newLine(t, g).open(grantOwn)
	if adm, err := s.Admit(own); err != nil {
		t.Error(err)
	} else {
		adm.Release()
	}
	wrong := own
	wrong.Key = "wrong"
	if err := s.Known(wrong); err == nil || s.Known(own) != nil {
		t.Error("a wrong key is known")
	}
	s.Remove(g)
	if _, err := s.Admit(own); !errors.Is(err, relay.ErrNotAdmitted) {
		t.Errorf("%v", err)
	}
}

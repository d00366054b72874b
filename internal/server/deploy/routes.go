package deploy

import (
	"sync"

	"github.com/svcctl/svcctl/internal/svc"
)

// routes joins the registry's status of a version with the supervisor's state of
// its runtime and publishes both to the gateway. One lock keeps the order of the
// reports. Safe for concurrent use.
type routes struct {
	gateway Gateway

	mu    sync.Mutex
	known map[svc.Ref]*route
}

type route struct {
	status   svc.Status
	endpoint svc.Endpoint
	runtime  svc.RuntimeState // the supervisor's last report; "" for none
	boot     bool             // Restore starts it
	held     bool             // the transition to ready is in progress
}

func newRoutes(g Gateway) *routes { return &routes{gateway: g, known: map[svc.Ref]*route{}} }

// announce publishes an unknown version; one whose status serves as starting. It
// keeps a version that is already known.
func (t *routes) announce(ref svc.Ref, status svc.Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[ref] != nil {
		return
	}
	t.set(ref, status).boot = status.Serves()
	t.publish(ref)
}

// setStatus publishes a transition.
func (t *routes) setStatus(ref svc.Ref, status svc.Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.set(ref, status)
	t.publish(ref)
}

// holdUntilReady makes requests wait until the transition to ready has ended: a
// client that reads the status ready is served, and no client earlier.
func (t *routes) holdUntilReady(ref svc.Ref) (release func()) {
	t.setHeld(ref, true)
	return func() { t.setHeld(ref, false) }
}

func (t *routes) setHeld(ref svc.Ref, held bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.known[ref]; r != nil && r.held != held {
		r.held = held
		t.publish(ref)
	}
}

// changed publishes a transition of a known version that another service made.
func (t *routes) changed(ref svc.Ref, status svc.Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[ref] == nil {
		return
	}
	t.set(ref, status)
	t.publish(ref)
}

// remove removes the routes of a version. Later reports about it have no effect.
func (t *routes) remove(ref svc.Ref) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.known, ref)
	t.gateway.RemoveVersion(ref)
}

// setRuntime publishes the supervisor's report on a known version.
func (t *routes) setRuntime(ref svc.Ref, state svc.RuntimeState, e svc.Endpoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.known[ref]
	if r == nil {
		return
	}
	if state != svc.RuntimeServing {
		e = svc.Endpoint{}
	}
	r.runtime, r.endpoint = state, e
	t.publish(ref)
}

// started ends the start of a version. e is the result of Serve, nil if it failed;
// a report of the supervisor is newer and takes precedence.
func (t *routes) started(ref svc.Ref, e *svc.Endpoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.known[ref]
	if r == nil {
		return
	}
	r.boot = false
	if e != nil && r.runtime == "" {
		r.endpoint = *e
	}
	t.publish(ref)
}

// set stores a status. Only versions that serve or deploy have an endpoint.
func (t *routes) set(ref svc.Ref, status svc.Status) *route {
	r := t.known[ref]
	if r == nil {
		r = &route{}
		t.known[ref] = r
	}
	r.status, r.held = status, false
	if status != svc.StatusDeploying && !status.Serves() {
		r.endpoint, r.boot = svc.Endpoint{}, false
	}
	return r
}

func (t *routes) publish(ref svc.Ref) {
	r := t.known[ref]
	if r.held && r.endpoint.Socket != "" {
		t.gateway.SetVersion(ref, svc.Upstream{Status: svc.StatusReady, Starting: true})
		return
	}
	coming := r.boot || r.runtime == svc.RuntimeStarting || r.runtime == svc.RuntimeBackoff
	t.gateway.SetVersion(ref, svc.Upstream{
		Status:   r.status,
		Starting: r.status.Serves() && r.endpoint.Socket == "" && coming,
		Endpoint: r.endpoint,
	})
}

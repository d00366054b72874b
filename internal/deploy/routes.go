package deploy

import (
	"sync"

	"github.com/svcctl/svcctl/internal/svc"
)

// routes joins what the registry says about a version with what the supervisor
// says, and hands both to the gateway. One lock keeps the gateway's view in the
// order of the reports.
type routes struct {
	gateway Gateway

	mu    sync.Mutex
	known map[svc.Ref]*route
}

type route struct {
	Route
	reported bool // the supervisor has spoken about it
	starting bool // the boot brings it back: answered like a deploy until it serves
}

func newRoutes(g Gateway) *routes { return &routes{gateway: g, known: map[svc.Ref]*route{}} }

// announce publishes a version that nobody reported yet, at boot as one that
// starts when its status serves. It never takes back what a deploy or the
// supervisor said meanwhile.
func (t *routes) announce(ref svc.Ref, status svc.Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r, ok := t.known[ref]; ok && (!r.Status.Serves() || r.Socket != "") {
		return
	}
	t.set(ref, status).starting = status.Serves()
	t.publish(ref)
}

// setStatus publishes a move.
func (t *routes) setStatus(ref svc.Ref, status svc.Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.set(ref, status)
	t.publish(ref)
}

// setEndpoint publishes what the supervisor reports. Versions that were never
// announced are not routed.
func (t *routes) setEndpoint(ref svc.Ref, e *Endpoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.known[ref]
	if r == nil {
		return
	}
	r.reported = true
	r.Endpoint = Endpoint{}
	if e != nil {
		r.Endpoint = *e
	}
	t.publish(ref)
}

// started ends the start of a version. e is what Serve returned, nil when it
// failed; the supervisor's own reports are newer than that.
func (t *routes) started(ref svc.Ref, e *Endpoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.known[ref]
	if r == nil {
		return
	}
	r.starting = false
	if e != nil && !r.reported {
		r.Endpoint = *e
	}
	t.publish(ref)
}

// set keeps a status. Only versions that serve or are about to have an endpoint.
func (t *routes) set(ref svc.Ref, status svc.Status) *route {
	r := t.known[ref]
	if r == nil {
		r = &route{}
		t.known[ref] = r
	}
	r.Status = status
	if status != svc.StatusDeploying && !status.Serves() {
		r.Endpoint, r.starting = Endpoint{}, false
	}
	return r
}

func (t *routes) publish(ref svc.Ref) {
	r := t.known[ref]
	shown := r.Route
	if r.starting {
		shown.Status = svc.StatusDeploying
	}
	t.gateway.SetVersion(ref, shown)
}

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
	status   svc.Status
	endpoint Endpoint
	runtime  RuntimeState // what the supervisor said last, "" for nothing yet
	boot     bool         // Restore will start it, or does
	almost   bool         // the move to ready is under way
}

func newRoutes(g Gateway) *routes { return &routes{gateway: g, known: map[svc.Ref]*route{}} }

// announce publishes a version for the first time, at boot as one that starts
// when its status serves. It takes nothing back that was reported meanwhile.
func (t *routes) announce(ref svc.Ref, status svc.Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[ref] != nil {
		return
	}
	t.set(ref, status).boot = status.Serves()
	t.publish(ref)
}

// setStatus publishes a move.
func (t *routes) setStatus(ref svc.Ref, status svc.Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.set(ref, status)
	t.publish(ref)
}

// almostReady has requests wait for the end of the move to ready: whoever sees the
// version ready is served, and nobody is before. over tells that it ended.
func (t *routes) almostReady(ref svc.Ref) (over func()) {
	t.setAlmost(ref, true)
	return func() { t.setAlmost(ref, false) }
}

func (t *routes) setAlmost(ref svc.Ref, almost bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.known[ref]; r != nil && r.almost != almost {
		r.almost = almost
		t.publish(ref)
	}
}

// changed publishes a move that somebody else made of a known version.
func (t *routes) changed(ref svc.Ref, status svc.Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[ref] == nil {
		return
	}
	t.set(ref, status)
	t.publish(ref)
}

// forget unpublishes a version. Later reports about it go nowhere.
func (t *routes) forget(ref svc.Ref) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.known, ref)
	t.gateway.RemoveVersion(ref)
}

// setRuntime publishes what the supervisor reports. Versions that were never
// announced are not routed.
func (t *routes) setRuntime(ref svc.Ref, state RuntimeState, e Endpoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.known[ref]
	if r == nil {
		return
	}
	if state != RuntimeServing {
		e = Endpoint{}
	}
	r.runtime, r.endpoint = state, e
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
	r.boot = false
	if e != nil && r.runtime == "" {
		r.endpoint = *e
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
	r.status, r.almost = status, false
	if status != svc.StatusDeploying && !status.Serves() {
		r.endpoint, r.boot = Endpoint{}, false
	}
	return r
}

func (t *routes) publish(ref svc.Ref) {
	r := t.known[ref]
	if r.almost && r.endpoint.Socket != "" {
		t.gateway.SetVersion(ref, Route{Status: svc.StatusReady, Starting: true})
		return
	}
	coming := r.boot || r.runtime == RuntimeStarting || r.runtime == RuntimeBackoff
	t.gateway.SetVersion(ref, Route{
		Status:   r.status,
		Starting: r.status.Serves() && r.endpoint.Socket == "" && coming,
		Endpoint: r.endpoint,
	})
}

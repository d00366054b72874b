package deploy

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// routes joins the registry's status of a version with the supervisor's state of
// its runtime and publishes both to the gateway. One lock keeps the order of the
// reports. Safe for concurrent use.
type routes struct {
	gateway Gateway
	bundle  func(svc.Ref) string // where the bundle of a version is unpacked

	mu       sync.Mutex
	known    map[svc.Ref]*route
	readOnly map[string]bool // projects
}

type route struct {
	status   svc.Status
	endpoint svc.Endpoint
	runtime  svc.RuntimeState // the supervisor's last report; "" for none
	retryAt  time.Time        // when a runtime in backoff, or a failed Restore, is started again
	failed   bool             // the runtime crashed or did not start, and has not served since
	boot     bool             // Restore starts it
	held     bool             // the transition to ready is in progress
	planned  bool             // its runtime is restarted on purpose
	asleep   bool             // its runtime was stopped because nothing asked for it
	rousing  bool             // a runtime that slept is starting
	wakeAt   time.Time        // when one that sleeps must run for its own work; zero for never
	files    string           // of the bundle whose static files it shows; "" for its own
	since    time.Time        // since when one that sleeps has no processes; zero while they end
}

// shortRetry is the longest wait for a restart that requests wait for, too. For a
// longer one they are refused and say when to come back.
const shortRetry = time.Second

func newRoutes(g Gateway, bundle func(svc.Ref) string) *routes {
	return &routes{gateway: g, bundle: bundle, known: map[svc.Ref]*route{}, readOnly: map[string]bool{}}
}

// announce publishes an unknown version; one whose status serves as starting or asleep.
// It keeps a version that is already known.
func (t *routes) announce(v svc.Version, asleep bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[v.Ref] != nil {
		return
	}
	r := t.set(v.Ref, v.Status)
	if r.asleep, r.boot = asleep, !asleep && v.Status.Serves(); asleep {
		r.since, r.wakeAt = v.AsleepAt, v.WakeAt
	}
	if r.asleep && r.since.IsZero() {
		r.since = time.Now()
	}
	t.publish(v.Ref)
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

// holdForRestart makes requests to a version that serves wait while its runtime is
// replaced, whatever is reported in between.
func (t *routes) holdForRestart(ref svc.Ref) (release func()) {
	t.setPlanned(ref, true)
	return func() { t.setPlanned(ref, false) }
}

// update publishes a change of a known version, unless change returns false.
func (t *routes) update(ref svc.Ref, change func(r *route) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.known[ref]; r != nil && change(r) {
		t.publish(ref)
	}
}

func (t *routes) setPlanned(ref svc.Ref, planned bool) {
	t.update(ref, func(r *route) bool { r.planned = planned; return true })
}

func (t *routes) setHeld(ref svc.Ref, held bool) {
	t.update(ref, func(r *route) bool {
		was := r.held
		r.held = held
		return was != held
	})
}

// changed publishes a transition of a known version that another service made.
func (t *routes) changed(ref svc.Ref, status svc.Status) {
	t.update(ref, func(*route) bool { t.set(ref, status); return true })
}

// remove removes the routes of a version. Later reports about it have no effect.
func (t *routes) remove(ref svc.Ref) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.known, ref)
	t.gateway.RemoveVersion(ref)
}

// setRuntime publishes the supervisor's report on a known version.
func (t *routes) setRuntime(now svc.Runtime) {
	t.update(now.Ref, func(r *route) bool {
		if now.State != svc.RuntimeServing {
			now.Endpoint = svc.Endpoint{}
		}
		r.runtime, r.endpoint, r.retryAt = now.State, now.Endpoint, now.RetryAt
		r.failed = !r.asleep && now.State != svc.RuntimeServing && (r.failed || now.State != svc.RuntimeStarting)
		return true
	})
}

// retry publishes that Restore could not start a version and starts it again at a time.
func (t *routes) retry(ref svc.Ref, at time.Time) {
	t.update(ref, func(r *route) bool {
		if r.boot {
			r.retryAt, r.failed = at, true
		}
		return r.boot
	})
}

// notServing returns the versions whose status serves and whose runtime crashed or did
// not start, and has not served since, sorted.
func (t *routes) notServing() (refs []svc.Ref) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for ref, r := range t.known {
		if r.status.Serves() && r.failed && !r.planned {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, svc.Ref.Compare)
	return refs
}

// started ends the start of a version. e is the result of Serve, nil if it failed;
// a report of the supervisor is newer and takes precedence.
func (t *routes) started(ref svc.Ref, e *svc.Endpoint) {
	t.update(ref, func(r *route) bool {
		if r.boot, r.rousing = false, false; r.runtime != svc.RuntimeBackoff {
			r.retryAt = time.Time{}
		}
		if e != nil && r.runtime == "" {
			r.endpoint = *e
		}
		return true
	})
}

// set stores a status. Only versions that serve or deploy have an endpoint.
func (t *routes) set(ref svc.Ref, status svc.Status) *route {
	r := t.known[ref]
	if r == nil {
		r = &route{}
		t.known[ref] = r
	}
	r.status, r.held = status, false
	if status != svc.StatusDeploying && status != svc.StatusDeployReady && !status.Serves() {
		r.endpoint, r.boot = svc.Endpoint{}, false
		r.asleep, r.rousing, r.files = false, false, ""
	}
	return r
}

func (t *routes) publish(ref svc.Ref) {
	r := t.known[ref]
	u := r.upstream(cmp.Or(r.files, t.bundle(ref)))
	u.ReadOnly = t.readOnly[ref.Project]
	t.gateway.SetVersion(ref, u)
}

// upstream returns what the gateway is to know of r, whose static files are in a directory.
func (r *route) upstream(files string) svc.Upstream {
	if r.held && r.endpoint.Socket != "" {
		return svc.Upstream{Status: svc.StatusReady, Starting: true}
	}
	if r.planned && r.status.Serves() {
		return svc.Upstream{Status: r.status, Starting: true, Planned: true, BundleDir: files}
	}
	if r.asleep {
		return svc.Upstream{Status: r.status, Asleep: true, Planned: true, RetryAt: r.retryAt, BundleDir: files}
	}
	u := svc.Upstream{Status: r.status, Endpoint: r.endpoint}
	if r.status.Serves() || r.endpoint.Socket != "" {
		u.BundleDir = files
	}
	if r.status.Serves() && r.endpoint.Socket == "" {
		if u.Starting = r.coming(); !u.Starting {
			u.RetryAt = r.retryAt
		}
		u.Planned = u.Starting && !r.failed && (r.boot || r.rousing) // it starts with the server, or from sleep
	}
	return u
}

// coming reports whether a runtime that does not serve will do so soon, if it can.
func (r *route) coming() bool {
	if !r.retryAt.IsZero() && time.Until(r.retryAt) > shortRetry {
		return false
	}
	return r.boot || r.rousing || r.runtime == svc.RuntimeStarting || r.runtime == svc.RuntimeBackoff
}

package route

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Router holds the routes of all versions, and gives each request the runtime that serves it.
// All methods are safe for concurrent use.
type Router struct {
	cfg   Config
	table atomic.Pointer[table]
	held  atomic.Int64 // requests that wait for a promote or a start
	taken taken

	closing atomic.Bool
	closed  chan struct{} // closed when waits end

	pruned func(*Upstream) // closes an engine's own spare connections to a runtime that was retired

	mu     sync.Mutex // for changes of the table, and the field below
	timers map[*time.Timer]struct{}
}

// Config configures a router, in the words of gateway.Config.
type Config struct {
	Ingress      *svc.Ingress
	Logger       *slog.Logger
	VerifySecret svc.Secret
	PublicHost   string
	Compress     bool

	Asked     func(ref svc.Ref)
	Rouse     func(ref svc.Ref)
	Machine   func(ref svc.Ref, key string) Machine
	Inherited time.Time
	Relay     Relay

	HoldTimeout        time.Duration
	StartWait          time.Duration
	MaxHeld            int
	MaxConnsPerVersion int
}

// New returns a router without routes.
func New(cfg Config) *Router {
	r := &Router{cfg: cfg, closed: make(chan struct{}), timers: map[*time.Timer]struct{}{}, pruned: func(*Upstream) {}}
	r.table.Store(&table{})
	return r
}

// OnRetire makes the router call pruned for each runtime that was retired. pruned must not
// wait. It is called before the first route.
func (r *Router) OnRetire(pruned func(*Upstream)) { r.pruned = pruned }

// Stop says that the gateway stops. It reports whether this call was the first.
func (r *Router) Stop() bool { return !r.closing.Swap(true) }

// IsClosing reports whether Stop was called.
func (r *Router) IsClosing() bool { return r.closing.Load() }

// EndWaits ends holds and timers. It is called once, after Stop.
func (r *Router) EndWaits() {
	close(r.closed)
	r.mu.Lock()
	defer r.mu.Unlock()
	for t := range r.timers {
		t.Stop()
		delete(r.timers, t)
	}
}

// Stopped is closed when EndWaits was called.
func (r *Router) Stopped() <-chan struct{} { return r.closed }

// EndWebsockets makes every open websocket end.
func (r *Router) EndWebsockets() {
	for _, v := range r.table.Load().versions.all {
		closeAll(v.stats.listWebsockets(""))
	}
}

// RetireAll makes every runtime refuse further requests.
func (r *Router) RetireAll() {
	for _, v := range r.table.Load().versions.all {
		if v.upstream != nil {
			v.upstream.retire()
		}
	}
}

// PruneIdle closes the spare connections to runtimes that were not used within IdleLimit.
func (r *Router) PruneIdle(now time.Time) {
	for _, v := range r.table.Load().versions.all {
		if v.upstream != nil {
			v.upstream.prune(now)
		}
	}
}

// Held is the number of requests that wait for a promote or a start.
func (r *Router) Held() int { return int(r.held.Load()) }

// HoldTimeout is the time limit of a wait for a promote.
func (r *Router) HoldTimeout() time.Duration { return r.cfg.HoldTimeout }

// IsRemote reports whether the runtimes are on other machines.
func (r *Router) IsRemote() bool { return r.cfg.Relay != nil }

// PendingTimers is the number of websockets' delayed ends that have not begun.
func (r *Router) PendingTimers() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.timers)
}

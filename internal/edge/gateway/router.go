package gateway

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
	cfg   RouterConfig
	table atomic.Pointer[table]
	held  atomic.Int64 // requests that wait for a promote or a start
	taken taken

	closing atomic.Bool
	closed  chan struct{} // closed when waits end

	pruned func(*upstream) // closes an engine's own spare connections to a runtime that was retired

	mu     sync.Mutex // for changes of the table, and the field below
	timers map[*time.Timer]struct{}
}

// RouterConfig configures a router, in the words of gateway.Config.
type RouterConfig struct {
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

// newRouter returns a router without routes.
func newRouter(cfg RouterConfig) *Router {
	r := &Router{cfg: cfg, closed: make(chan struct{}), timers: map[*time.Timer]struct{}{}, pruned: func(*upstream) {}}
	r.table.Store(&table{})
	return r
}

// onRetire makes the router call pruned for each runtime that was retired. pruned must not
// wait. It is called before the first route.
func (r *Router) onRetire(pruned func(*upstream)) { r.pruned = pruned }

// stop says that the gateway stops. It reports whether this call was the first.
func (r *Router) stop() bool { return !r.closing.Swap(true) }

// isClosing reports whether stop was called.
func (r *Router) isClosing() bool { return r.closing.Load() }

// endWaits ends holds and timers. It is called once, after stop.
func (r *Router) endWaits() {
	close(r.closed)
	r.mu.Lock()
	defer r.mu.Unlock()
	for t := range r.timers {
		t.Stop()
		delete(r.timers, t)
	}
}

// stopped is closed when endWaits was called.
func (r *Router) stopped() <-chan struct{} { return r.closed }

// endWebsockets makes every open websocket end.
func (r *Router) endWebsockets() {
	for _, v := range r.table.Load().versions.all {
		closeAll(v.stats.listWebsockets(""))
	}
}

// retireAll makes every runtime refuse further requests.
func (r *Router) retireAll() {
	for _, v := range r.table.Load().versions.all {
		if v.upstream != nil {
			v.upstream.retire()
		}
	}
}

// sweep closes the spare connections to runtimes that were not used within idleLimit.
func (r *Router) sweep(now time.Time) {
	for _, v := range r.table.Load().versions.all {
		if v.upstream != nil {
			v.upstream.prune(now)
		}
	}
}

// Held is the number of requests that wait for a promote or a start.
func (r *Router) Held() int { return int(r.held.Load()) }

// holdTimeout is the time limit of a wait for a promote.
func (r *Router) holdTimeout() time.Duration { return r.cfg.HoldTimeout }

// isRemote reports whether the runtimes are on other machines.
func (r *Router) isRemote() bool { return r.cfg.Relay != nil }

// PendingTimers is the number of websockets' delayed ends that have not begun.
func (r *Router) PendingTimers() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.timers)
}

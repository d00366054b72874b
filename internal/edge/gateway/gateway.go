package gateway

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/lib/clientlimit"
	"github.com/svcctl/svcctl/internal/svc"
)

// Gateway routes user traffic. New creates one, Serve serves a listener.
type Gateway struct {
	cfg    Config
	engine engine
	table  atomic.Pointer[table]
	trust  atomic.Pointer[trust]

	inflight   atomic.Int64  // requests
	requests   atomic.Uint64 // that have ended
	websockets atomic.Int64
	held       atomic.Int64 // requests that wait for a promote or a start
	closing    atomic.Bool
	closed     chan struct{} // closed when Shutdown begins

	clients     *clientlimit.Gate // counts the clients' connections
	refusals    chan struct{}     // one element per refused connection that is answered
	faults      chan struct{}     // one element per request that looks for its exception
	compressors compressors
	contents    contents
	taken       taken
	warned      atomic.Int64 // unix nanoseconds of the last warning about refused connections

	sweeping atomic.Bool  // a sweep is due
	busy     atomic.Int64 // unix nanoseconds of the last time with a connection, at most SweepEvery ago
	sweeper  *time.Timer

	mu        sync.Mutex // for changes of the table, and the fields below
	listeners map[net.Listener]struct{}
	timers    map[*time.Timer]struct{}
	running   sync.WaitGroup // connections, and Serve itself
}

// New returns a gateway without routes. It panics without an Ingress, or if the
// Engine is unknown.
func New(cfg Config) *Gateway {
	if cfg.Ingress == nil {
		panic("gateway: no ingress")
	}
	g := &Gateway{
		cfg: cfg.withDefaults(), closed: make(chan struct{}),
		listeners: map[net.Listener]struct{}{}, timers: map[*time.Timer]struct{}{},
	}
	g.clients = clientlimit.NewGate(clientlimit.Caps{Total: g.cfg.MaxConns, PerClient: g.cfg.MaxConnsPerClient})
	g.refusals = make(chan struct{}, maxRefusals)
	g.faults = make(chan struct{}, maxFaults)
	g.table.Store(&table{})
	g.SetTrustedProxies(cfg.TrustedProxies, cfg.LocationHeaders)
	g.engine = newEngine(g)
	g.sweeper = time.AfterFunc(time.Hour, g.sweep)
	g.sweeper.Stop()
	return g
}

// Encrypted is a connection whose visitor uses https: its Read and Write carry what was
// encrypted.
type Encrypted interface {
	net.Conn
	// Encrypted marks the connection.
	Encrypted()
}

// Serve accepts connections from ln, which it owns, until Shutdown or the end of
// ctx; then it returns nil. The end of ctx closes every connection: call Shutdown
// for a graceful end. Several listeners may be served.
func (g *Gateway) Serve(ctx context.Context, ln net.Listener) error {
	if !g.addListener(ln) {
		return ln.Close()
	}
	defer g.running.Done()
	stop := context.AfterFunc(ctx, g.abort)
	defer stop()
	err := g.engine.serve(ctx, ln)
	if g.closing.Load() {
		return nil
	}
	return err
}

func (g *Gateway) addListener(ln net.Listener) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing.Load() {
		return false
	}
	g.listeners[ln] = struct{}{}
	g.running.Add(1)
	return true
}

// Shutdown stops accepting, closes idle connections, sends websockets a close
// frame (1012) and waits for the requests in flight, and for
// Config.FreshTime for the first request of each new connection. If ctx ends first, it
// closes the remaining connections and returns ctx's error. It may be called again.
func (g *Gateway) Shutdown(ctx context.Context) error {
	g.beginClose()
	for _, v := range g.table.Load().versions.all {
		closeAll(v.stats.listTunnels(""))
	}
	done := make(chan struct{})
	go func() { g.running.Wait(); close(done) }()
	err := g.awaitEnd(ctx, done)
	for _, v := range g.table.Load().versions.all {
		if v.upstream != nil {
			v.upstream.retire()
		}
	}
	return err
}

// awaitEnd waits until done, when every connection has ended.
func (g *Gateway) awaitEnd(ctx context.Context, done <-chan struct{}) error {
	fresh := time.NewTimer(g.cfg.FreshTime)
	defer fresh.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-fresh.C:
			g.engine.closeFresh()
		case <-ctx.Done():
			g.abort()
			<-done
			return context.Cause(ctx)
		}
	}
}

// beginClose closes listeners, timers and idle connections.
func (g *Gateway) beginClose() {
	if g.stopAccepting() {
		g.engine.closeIdle()
	}
}

// stopAccepting closes listeners and timers. It reports whether this call was the
// first.
func (g *Gateway) stopAccepting() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing.Swap(true) {
		return false
	}
	for ln := range g.listeners {
		_ = ln.Close()
	}
	close(g.closed) // ends holds: their clients see a closed port
	for t := range g.timers {
		t.Stop()
		delete(g.timers, t)
	}
	return true
}

// abort closes every connection.
func (g *Gateway) abort() {
	g.beginClose()
	g.engine.abort()
}

// connected makes a sweep due, for a new connection. It does not block.
func (g *Gateway) connected() {
	g.busy.Store(time.Now().UnixNano())
	g.armSweep()
}

func (g *Gateway) armSweep() {
	if !g.sweeping.Swap(true) {
		g.sweeper.Reset(g.cfg.SweepEvery)
	}
}

// sweep closes connections that are idle or send too slowly, and spare connections to
// runtimes, which are unused idleLimit after the last client. Until then another sweep follows.
func (g *Gateway) sweep() {
	g.sweeping.Store(false)
	now := time.Now()
	if g.engine.sweep(now) > 0 {
		g.busy.Store(now.UnixNano())
	}
	for _, v := range g.table.Load().versions.all {
		if v.upstream != nil {
			v.upstream.prune(now)
		}
	}
	if now.Sub(time.Unix(0, g.busy.Load())) <= idleLimit+2*g.cfg.SweepEvery {
		g.armSweep()
	}
}

// observe reports a finished request.
func (g *Gateway) observe(o Observation) {
	if g.cfg.Observer != nil {
		g.cfg.Observer.ObserveRequest(o)
	}
}

func (g *Gateway) observeWebsocket(ref svc.Ref, role svc.Role, delta int) {
	g.websockets.Add(int64(delta))
	if g.cfg.Observer != nil {
		g.cfg.Observer.ObserveWebsocket(ref, role, delta)
	}
}

package gateway

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/loop"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
)

// Gateway routes user traffic. New creates one, Serve serves a listener. The methods of its
// router change the routes.
type Gateway struct {
	*route.Router

	cfg     Config
	service *exchange.Service
	server  *conn.Server
	engine  engine

	sweeping atomic.Bool  // a sweep is due
	busy     atomic.Int64 // unix nanoseconds of the last time with a connection, at most SweepEvery ago
	sweeper  *time.Timer

	mu        sync.Mutex // guards listeners
	listeners map[net.Listener]struct{}
}

// New returns a gateway without routes. It panics without an Ingress, or if the
// Engine is unknown.
func New(cfg Config) *Gateway {
	if cfg.Ingress == nil {
		panic("gateway: no ingress")
	}
	cfg = cfg.withDefaults()
	if cfg.Engine == EngineLoop && loop.IsAvailable {
		cfg.Logger = newLaterLogger(cfg.Logger)
	}
	g := &Gateway{cfg: cfg, listeners: map[net.Listener]struct{}{}}
	g.Router = route.New(cfg.router())
	g.service = exchange.New(g.Router, cfg.service())
	g.server = conn.NewServer(g.service, cfg.conn(), g.connected)
	g.SetTrustedProxies(cfg.TrustedProxies, cfg.LocationHeaders)
	g.engine = newEngine(cfg.Engine, g.server)
	g.OnRetire(g.engine.Prune)
	g.sweeper = time.AfterFunc(time.Hour, g.sweep)
	g.sweeper.Stop()
	return g
}

// Serve accepts connections from ln, which it owns, until Shutdown or the end of
// ctx; then it returns nil. The end of ctx closes every connection: call Shutdown
// for a graceful end. Several listeners may be served.
func (g *Gateway) Serve(ctx context.Context, ln net.Listener) error {
	if !g.addListener(ln) {
		return ln.Close()
	}
	defer g.server.Running.Done()
	stop := context.AfterFunc(ctx, g.abort)
	defer stop()
	err := g.engine.Serve(ctx, ln)
	if g.IsClosing() {
		return nil
	}
	return err
}

func (g *Gateway) addListener(ln net.Listener) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.IsClosing() {
		return false
	}
	g.listeners[ln] = struct{}{}
	g.server.Running.Add(1)
	return true
}

// Shutdown stops accepting, closes idle connections, sends websockets a close
// frame (1012) and waits for the requests in flight, and for
// Config.FreshTime for the first request of each new connection. If ctx ends first, it
// closes the remaining connections and returns ctx's error. It may be called again.
func (g *Gateway) Shutdown(ctx context.Context) error {
	g.beginClose()
	g.EndWebsockets()
	done := make(chan struct{})
	go func() { g.server.Running.Wait(); close(done) }()
	err := g.awaitEnd(ctx, done)
	g.RetireAll()
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
			g.engine.CloseFresh()
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
		g.engine.CloseIdle()
	}
}

// stopAccepting closes listeners and timers. It reports whether this call was the
// first.
func (g *Gateway) stopAccepting() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.Stop() {
		return false
	}
	for ln := range g.listeners {
		_ = ln.Close()
	}
	g.EndWaits() // the clients of holds see a closed port
	return true
}

// abort closes every connection.
func (g *Gateway) abort() {
	g.beginClose()
	g.engine.Abort()
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
// runtimes, which are unused IdleLimit after the last client. Until then another sweep follows.
func (g *Gateway) sweep() {
	g.sweeping.Store(false)
	now := time.Now()
	if g.engine.Sweep(now) > 0 {
		g.busy.Store(now.UnixNano())
	}
	g.PruneIdle(now)
	if now.Sub(time.Unix(0, g.busy.Load())) <= route.IdleLimit+2*g.cfg.SweepEvery {
		g.armSweep()
	}
}

package gateway

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// sweepEvery is how often idle and slow connections are looked for.
const sweepEvery = time.Second

// Gateway routes user traffic. Make one with New, serve with Serve.
type Gateway struct {
	cfg   Config
	table atomic.Pointer[table]

	inflight   atomic.Int64 // requests
	websockets atomic.Int64
	held       atomic.Int64 // requests that wait for a cut-over or a start
	closing    atomic.Bool
	closed     chan struct{} // closed when Shutdown begins

	inputs    sync.Pool // *[]byte of inputSize
	exchanges sync.Pool // *exchange

	mu        sync.Mutex // of table changes and what follows
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	timers    map[*time.Timer]struct{}
	running   sync.WaitGroup // connections, and Serve itself
}

// New returns a gateway without routes. It panics without an Ingress.
func New(cfg Config) *Gateway {
	if cfg.Ingress == nil {
		panic("gateway: no ingress")
	}
	g := &Gateway{
		cfg: cfg.withDefaults(), closed: make(chan struct{}),
		listeners: map[net.Listener]struct{}{}, conns: map[*conn]struct{}{}, timers: map[*time.Timer]struct{}{},
	}
	g.table.Store(emptyTable())
	g.inputs.New = func() any { b := make([]byte, inputSize); return &b }
	g.exchanges.New = func() any { return newExchange() }
	return g
}

// Serve accepts connections from ln, which it owns from now on, until Shutdown
// or the end of ctx; then it returns nil. The end of ctx cuts everything off:
// call Shutdown for a graceful end. Several listeners may be served.
func (g *Gateway) Serve(ctx context.Context, ln net.Listener) error {
	if !g.addListener(ln) {
		return ln.Close()
	}
	defer g.running.Done()
	stop := context.AfterFunc(ctx, g.abort)
	defer stop()
	quit := make(chan struct{})
	defer close(quit)
	g.running.Go(func() { g.sweepLoop(quit) })
	for {
		nc, err := ln.Accept()
		switch {
		case err == nil:
			g.start(ctx, nc)
		case g.closing.Load():
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		default: // out of file descriptors, most often: what is open goes on
			g.cfg.Logger.WarnContext(ctx, "accepting a connection", "error", err)
			select {
			case <-time.After(sweepEvery / 10):
			case <-g.closed:
			}
		}
	}
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

// start serves one connection in the background.
func (g *Gateway) start(ctx context.Context, nc net.Conn) {
	c := newConn(g, nc)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing.Load() {
		_ = nc.Close()
		return
	}
	g.conns[c] = struct{}{}
	g.running.Go(func() {
		defer g.forget(c)
		c.serve(ctx)
	})
}

func (g *Gateway) forget(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.conns, c)
}

// Shutdown stops accepting, ends idle connections and asks websockets to end
// (1012), lets requests in flight finish and returns when they have. When ctx
// ends first it cuts off the rest and returns ctx's error. It may be called
// again.
func (g *Gateway) Shutdown(ctx context.Context) error {
	g.beginClose()
	for _, v := range g.table.Load().versions {
		closeAll(v.stats.listTunnels(""))
	}
	done := make(chan struct{})
	go func() { g.running.Wait(); close(done) }()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = context.Cause(ctx)
		g.abort()
		<-done
	}
	for _, v := range g.table.Load().versions {
		if v.upstream != nil {
			v.upstream.retire()
		}
	}
	return err
}

// beginClose closes listeners, timers and idle connections.
func (g *Gateway) beginClose() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing.Swap(true) {
		return
	}
	close(g.closed)
	for ln := range g.listeners {
		_ = ln.Close()
	}
	for t := range g.timers {
		t.Stop()
		delete(g.timers, t)
	}
	for c := range g.conns {
		c.closeIfIdle(time.Now().Add(time.Hour))
	}
}

// abort closes every connection.
func (g *Gateway) abort() {
	g.beginClose()
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.conns {
		c.abort()
	}
}

// sweepLoop closes connections that idle or send a head too slowly, and spare
// connections to runtimes.
func (g *Gateway) sweepLoop(quit <-chan struct{}) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case now := <-tick.C:
			g.sweep(now)
		}
	}
}

func (g *Gateway) sweep(now time.Time) {
	for _, v := range g.table.Load().versions {
		if v.upstream != nil {
			v.upstream.prune(now)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.conns {
		c.closeIfIdle(now)
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

package conn

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
)

// Engine is the gateway's own HTTP/1.1. Most requests need no goroutine but that
// of their connection.
type Engine struct {
	*Server

	inputs    sync.Pool // *[]byte of InputSize
	exchanges sync.Pool // *connExchange
	large     largeBuffers

	mu      sync.Mutex // guards the fields below
	conns   map[*Conn]struct{}
	aborted bool
}

// NewEngine returns an engine for the connections of s.
func NewEngine(s *Server) *Engine {
	e := &Engine{Server: s, conns: map[*Conn]struct{}{}}
	s.MakeRoom = e.Evict
	e.inputs.New = func() any { b := make([]byte, InputSize); return &b }
	e.exchanges.New = func() any { return newExchange() }
	return e
}

// Serve accepts connections from ln until it is closed.
func (e *Engine) Serve(ctx context.Context, ln net.Listener) error {
	for {
		nc, err := ln.Accept()
		switch {
		case err == nil:
			if p := e.PeerOf(nc.RemoteAddr()); e.Admit(ctx, nc, &p) {
				e.start(ctx, nc, p)
			}
		case e.IsClosing() || errors.Is(err, net.ErrClosed):
			return err
		default: // most often no free file descriptor: open connections continue
			e.Config.Logger.WarnContext(ctx, "accepting a connection failed; retrying", "error", err)
			select {
			case <-time.After(AcceptRetry):
			case <-e.Stopped():
			}
		}
	}
}

// start serves one connection in the background.
func (e *Engine) start(ctx context.Context, nc net.Conn, p exchange.Peer) {
	e.StartConn(ctx, newConn(e, nc, p))
}

// StartConn serves a connection in the background. It does not wait for a lock.
func (e *Engine) StartConn(ctx context.Context, c *Conn) {
	e.Running.Go(func() {
		e.register(c)
		defer e.forget(c)
		c.serve(ctx)
	})
}

func (e *Engine) register(c *Conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.conns[c] = struct{}{}
	e.Connected()
	if e.aborted {
		c.abort()
	}
}

func (e *Engine) forget(c *Conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.conns, c)
	if !c.lent {
		e.Leave(&c.peer)
	}
}

// Sweep closes the connections that exceed a time limit, and returns how many there were.
func (e *Engine) Sweep(now time.Time) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.conns {
		c.closeIfIdle(now)
		if c.nc.Enforce(now) {
			c.cutUpstream()
		}
	}
	return len(e.conns)
}

// Evict closes a connection without a request, and reports whether it found one.
func (e *Engine) Evict() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range Sample(e.conns, EvictSample) {
		if c.closeIfOlder(time.Now(), EvictAge, EvictAge) {
			return true
		}
	}
	return false
}

// CloseIdle closes the connections between two requests.
func (e *Engine) CloseIdle() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.conns {
		c.closeBetween()
	}
}

// CloseFresh closes the connections whose first request has not arrived.
func (e *Engine) CloseFresh() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.conns {
		c.closeIfOlder(time.Now().Add(time.Hour), 0, 0)
	}
}

// Prune does nothing: the upstream itself has the spare connections.
func (e *Engine) Prune(*route.Upstream) {}

// Abort closes every connection.
func (e *Engine) Abort() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.aborted = true
	for c := range e.conns {
		c.abort()
	}
}

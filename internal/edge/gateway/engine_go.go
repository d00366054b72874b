package gateway

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// goEngine is the gateway's own HTTP/1.1. Most requests need no goroutine but that
// of their connection.
type goEngine struct {
	*Server

	inputs    sync.Pool // *[]byte of inputSize
	exchanges sync.Pool // *exchange
	large     largeBuffers

	mu      sync.Mutex // guards the fields below
	conns   map[*conn]struct{}
	aborted bool
}

func newGoEngine(s *Server) *goEngine {
	e := &goEngine{Server: s, conns: map[*conn]struct{}{}}
	s.makeRoom = e.evict
	e.inputs.New = func() any { b := make([]byte, inputSize); return &b }
	e.exchanges.New = func() any { return newExchange() }
	return e
}

func (e *goEngine) serve(ctx context.Context, ln net.Listener) error {
	for {
		nc, err := ln.Accept()
		switch {
		case err == nil:
			if p := e.peerOf(nc.RemoteAddr()); e.admit(ctx, nc, &p) {
				e.start(ctx, nc, p)
			}
		case e.isClosing() || errors.Is(err, net.ErrClosed):
			return err
		default: // most often no free file descriptor: open connections continue
			e.cfg.Logger.WarnContext(ctx, "accepting a connection failed; retrying", "error", err)
			select {
			case <-time.After(acceptRetry):
			case <-e.stopped():
			}
		}
	}
}

// start serves one connection in the background.
func (e *goEngine) start(ctx context.Context, nc net.Conn, p peer) {
	e.startConn(ctx, newConn(e, nc, p))
}

// startConn serves a connection in the background. It does not wait for a lock.
func (e *goEngine) startConn(ctx context.Context, c *conn) {
	e.running.Go(func() {
		e.register(c)
		defer e.forget(c)
		c.serve(ctx)
	})
}

func (e *goEngine) register(c *conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.conns[c] = struct{}{}
	e.connected()
	if e.aborted {
		c.abort()
	}
}

func (e *goEngine) forget(c *conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.conns, c)
	if !c.lent {
		e.leave(&c.peer)
	}
}

func (e *goEngine) sweep(now time.Time) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.conns {
		c.closeIfIdle(now)
		if c.nc.enforce(now) {
			c.cutUpstream()
		}
	}
	return len(e.conns)
}

func (e *goEngine) evict() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range some(e.conns, evictSample) {
		if c.closeIfOlder(time.Now(), evictAge, evictAge) {
			return true
		}
	}
	return false
}

func (e *goEngine) closeIdle() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.conns {
		c.closeBetween()
	}
}

func (e *goEngine) closeFresh() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.conns {
		c.closeIfOlder(time.Now().Add(time.Hour), 0, 0)
	}
}

func (e *goEngine) prune(*upstream) {} // upstream has the spare connections

func (e *goEngine) abort() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.aborted = true
	for c := range e.conns {
		c.abort()
	}
}

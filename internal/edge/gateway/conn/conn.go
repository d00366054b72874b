package conn

import (
	"context"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/edge/http1"
)

// The phases of a connection.
const (
	phaseIdle   = int64(iota) // between two requests
	phaseFresh                // before the first byte of the first request
	phaseHead                 // in a request's head
	phaseActive               // in a request
	phaseClosed               // closed by the gateway; no request may begin
	phaseRest                 // behind a response, in the rest of a body that the response did not need
	phaseBits   = 3
)

// Conn is a client's connection. Its goroutine owns all fields, except where a
// comment says otherwise.
type Conn struct {
	g    *Engine
	nc   *Client
	peer exchange.Peer
	in   input
	home *[]byte // the pooled buffer of in
	now  time.Time

	phase atomic.Int64 // unix milliseconds << phaseBits | phase; the sweep changes it too

	watch  watch
	tunnel *Tunnel // the websocket that the last request opened

	// Of a connection that a loop has handed over.
	response *connExchange    // that the loop began, nil for none
	giveBack func(*Conn) bool // gives it back between two requests, and reports whether it did
	lent     bool             // it was given back: it still counts
	parting  bool             // its last response is sent: only the client's bytes are dropped

	mu      sync.Mutex // guards the next two, which abort uses too
	aborted bool
	up      *route.UpConn
}

func newConn(g *Engine, nc net.Conn, p exchange.Peer) *Conn {
	c := &Conn{g: g, peer: p, nc: &Client{Conn: nc, Config: &g.Config}, now: time.Now()}
	c.phase.Store(c.now.UnixMilli()<<phaseBits | phaseFresh)
	return c
}

// serve answers one request after another.
func (c *Conn) serve(ctx context.Context) {
	if c.home == nil {
		c.takeInputBuffer()
	}
	defer c.close(ctx)
	for c.next(ctx) {
		c.in.reset(*c.home)
		c.phase.Store(c.now.UnixMilli()<<phaseBits | phaseIdle)
		if c.g.IsClosing() || c.giveBack != nil && c.giveBack(c) {
			return
		}
	}
}

// close runs last, also after a panic, which must not end the other connections.
func (c *Conn) close(ctx context.Context) {
	if p := recover(); p != nil {
		c.g.Config.Logger.ErrorContext(ctx, "connection panicked", "panic", p, "stack", string(debug.Stack()))
	}
	c.abort()
	c.stopWatch()
	c.releaseInput()
}

func (c *Conn) takeInputBuffer() {
	c.home, _ = c.g.inputs.Get().(*[]byte)
	c.in.buf = *c.home
}

// releaseInput returns the input buffer to its pool.
func (c *Conn) releaseInput() {
	if c.home != nil {
		c.g.inputs.Put(c.home)
		c.home, c.in = nil, input{}
	}
}

// next answers one request. It reports whether another one may follow.
func (c *Conn) next(ctx context.Context) bool {
	switch {
	case c.parting:
		c.part()
		return false
	case c.response != nil:
		return c.continueResponse(ctx)
	}
	if c.in.len() == 0 {
		if n, _ := c.in.fill(c.nc); n == 0 {
			return false
		}
	}
	x, _ := c.g.exchanges.Get().(*connExchange)
	x.begin()
	keep := c.readHead(ctx, x) && c.handle(ctx, x)
	c.end(x)
	return keep
}

// end ends an exchange, and serves the websocket that it has opened.
func (c *Conn) end(x *connExchange) {
	x.trim()
	c.g.exchanges.Put(x)
	c.serveTunnel()
}

// continueResponse answers a request of which a loop has read the head of the response.
func (c *Conn) continueResponse(ctx context.Context) bool {
	x := c.response
	c.response = nil
	c.resume(ctx, x)
	keep := c.readRest(x)
	c.end(x)
	return keep
}

func (c *Conn) resume(ctx context.Context, x *connExchange) {
	defer c.over(x)
	c.phase.Store(c.now.UnixMilli()<<phaseBits | phaseActive)
	c.nc.Begin(&x.Request)
	c.arm(c.up)
	c.answer(ctx, x, nil)
}

// readHead reads and parses a head. If it returns false, the error response was
// sent already, if there is one.
func (c *Conn) readHead(ctx context.Context, x *connExchange) bool {
	for seen := 0; ; {
		b := c.in.bytes()
		n, err := http1.FindHead(b, seen)
		if err == nil && max(n, len(b)) > c.g.Config.MaxHeader && (n == 0 || n > c.g.Config.MaxHeader) {
			err = &http1.Error{Status: 431, Detail: exchange.HeadTooLarge}
		}
		if err == nil && n > 0 {
			c.in.use(n)
			err = x.Req.Parse(b[:n])
		}
		c.now = time.Now()
		switch {
		case err != nil:
			c.enter(phaseActive)
			return c.reject(ctx, x, err)
		case n > 0:
			return c.enter(phaseActive)
		case seen == 0 && !c.enter(phaseHead):
			return false
		}
		seen = len(b)
		c.in.reserve(1)
		if n, err := c.in.fill(c.nc); n == 0 && err != nil {
			return false
		}
	}
}

// enter changes the phase. It fails if the sweep has closed the connection as idle
// or slow.
func (c *Conn) enter(phase int64) bool {
	old := c.phase.Load()
	return old&(1<<phaseBits-1) != phaseClosed &&
		c.phase.CompareAndSwap(old, c.now.UnixMilli()<<phaseBits|phase)
}

// closeIfIdle closes a connection that has been idle, or in a head, for longer than
// its limit. It may be called from any goroutine.
func (c *Conn) closeIfIdle(now time.Time) {
	c.closeIfOlder(now, c.g.Config.IdleTimeout, c.g.Config.HeaderTimeout)
}

// closeIfOlder closes a connection that has been idle, or in a head, for longer than
// the limit. It reports whether it closed the connection.
func (c *Conn) closeIfOlder(now time.Time, idle, head time.Duration) bool {
	old, limit := c.phase.Load(), idle
	switch old & (1<<phaseBits - 1) {
	case phaseHead:
		limit = head
	case phaseActive, phaseClosed:
		return false
	}
	if now.UnixMilli()-old>>phaseBits <= limit.Milliseconds() || !c.phase.CompareAndSwap(old, phaseClosed) {
		return false
	}
	_ = c.nc.Close()
	return true
}

// closeBetween closes a connection whose last request is answered, which has no
// other one.
func (c *Conn) closeBetween() {
	if old := c.phase.Load(); old&(1<<phaseBits-1) == phaseIdle && c.phase.CompareAndSwap(old, phaseClosed) {
		_ = c.nc.Close()
	}
}

// abort closes the connections of client and runtime. It may be called from any
// goroutine, and again.
func (c *Conn) abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.aborted = true
	_ = c.nc.Close()
	if c.up != nil {
		_ = c.up.Close()
	}
}

// attach makes up the connection that abort and cutUpstream close.
func (c *Conn) attach(up *route.UpConn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.up = up
	return !c.aborted
}

// cutUpstream closes the runtime's connection, which cancels the worker.
func (c *Conn) cutUpstream() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.up != nil {
		_ = c.up.Close()
	}
}

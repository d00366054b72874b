package loop

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
)

// unmeasured is the value of loopClient.unsent until the sweep measures it.
const unmeasured = -2

// each calls f for each client of the loop.
func (l *loop) each(f func(*loopClient)) {
	for _, s := range l.slots {
		if c, ok := s.who.(*loopClient); ok {
			l.dispatch(eachClient{c, f}, 0)
		}
	}
}

// eachClient is a client for which each calls a function.
type eachClient struct {
	*loopClient
	f func(*loopClient)
}

func (e eachClient) ready(l *loop, _ uint32) {
	l.current = e.loopClient
	e.f(e.loopClient)
}

// sweep applies the time limits of Config.
func (l *loop) sweep() {
	l.each(l.enforce)
	for u := range l.spares {
		l.prune(u, u.IsClosed())
	}
}

func (l *loop) enforce(c *loopClient) {
	cfg := &l.e.Config
	switch {
	case len(c.out) > 0:
		if l.isStuck(c) {
			c.reset = true
			l.gone(c)
		}
	case c.tunnel != nil:
	case c.x != nil:
		if !c.x.replied && c.x.Req.IsWebSocket() && l.now.Sub(c.x.Start) > cfg.ClientTimeout {
			l.closeRuntime(c.up)
			l.refuse(c, exchange.ErrHandshake(cfg.ClientTimeout))
		}
	case l.now.Sub(c.since) > l.limit(c):
		l.closeClient(c)
	}
}

// limit is the time that a client may be without a request, or in its head.
func (l *loop) limit(c *loopClient) time.Duration {
	if len(c.in) > 0 {
		return l.e.Config.HeaderTimeout
	}
	return l.e.Config.IdleTimeout
}

// isStuck reports whether a client has taken no byte of the response for too long. A slow
// client may acknowledge bytes that were written before.
func (l *loop) isStuck(c *loopClient) bool {
	left, err := unix.IoctlGetInt(c.fd, unix.SIOCOUTQ)
	switch {
	case c.unsent == unmeasured:
		c.unsent = left
		return false
	case l.now.Sub(c.moved) <= l.e.Config.ClientTimeout:
		return false
	case err == nil && left != c.unsent:
		c.moved, c.unsent = l.now, left
		return false
	}
	return true
}

// evict closes a client's connection without a request, and reports whether it found one.
func (l *loop) evict() (found bool) {
	left := conn.EvictSample
	for _, s := range l.slots {
		c, ok := s.who.(*loopClient)
		if !ok {
			continue
		}
		if c.x == nil && c.tunnel == nil && len(c.out) == 0 && l.now.Sub(c.since) > conn.EvictAge {
			l.closeClient(c)
			return true
		}
		if left--; left == 0 {
			break
		}
	}
	return false
}

// stop ends the accepting of connections, and closes those between two requests. The loop
// ends when the others have ended.
func (l *loop) stop() {
	l.closing = true
	for _, s := range l.listeners {
		if l.slots[s.fd].who != nil {
			l.forget(s.fd)
		}
		s.release()
	}
	l.listeners = nil
	l.each(func(c *loopClient) {
		switch {
		case c.x != nil || c.tunnel != nil || c.fresh || len(c.in) > 0:
		default:
			l.closeWhenSent(c)
		}
	})
}

// closeFresh closes the connections whose first request has not arrived.
func (l *loop) closeFresh() {
	l.each(func(c *loopClient) {
		if c.x == nil && c.tunnel == nil {
			l.closeWhenSent(c)
		}
	})
}

// abort closes every connection.
func (l *loop) abort() {
	l.aborted = true
	l.stop()
	l.each(l.gone)
}

// watchHalfClosed tests a client that has closed its sending side during a request, as
// conn.Client does.
func (l *loop) watchHalfClosed(c *loopClient) {
	if c.x != nil {
		l.later(c, halfClosed{number: c.number, writes: c.x.writes})
	}
}

// halfClosed is the state of the test of a client.
type halfClosed struct {
	number uint32 // of the request
	writes int    // to the client, so far
	silent int    // tests without a write
}

func (l *loop) later(c *loopClient, h halfClosed) {
	time.AfterFunc(l.e.Config.ProbeTime, func() { l.post(func() { l.testClient(c, h) }) })
}

func (l *loop) testClient(c *loopClient, h halfClosed) {
	x := c.x
	if x == nil || c.number != h.number {
		return
	}
	l.current = c
	if x.writes == 0 && x.Req.Minor == 1 {
		if n, err := send(c.fd, []byte(conn.Probe)); err != nil || n > 0 {
			return // the response of a client that has left is the reset
		}
	}
	if x.writes != h.writes {
		h.writes, h.silent = x.writes, 0
	}
	if h.silent++; h.silent > conn.SilentTests {
		l.gone(c)
		return
	}
	l.later(c, h)
}

package conn

import (
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/lib/clientlimit"
)

const (
	// MaxRest is the length of the longest body, in bytes, whose rest is read behind a response
	// that did not need it, so that the connection is at the next request. The response to a
	// longer one says that it is the last one of its connection.
	MaxRest = 64 << 20
	// stoppingTime is the time for the rest while the gateway stops, and of connections that are
	// not admitted.
	stoppingTime = time.Second
)

// Linger are the limits for what a client sends behind its last response.
func (s *Server) Linger() clientlimit.Linger {
	l := clientlimit.DefaultLinger()
	l.Silence = s.Config.LingerTime
	if s.IsClosing() {
		l.Time = stoppingTime
	}
	return l
}

// EndsSoon reports whether the rest of a body may be read behind the response. unasked says that
// the client waits for a 100 (Continue) that it did not get: it may send the body, or not. The end
// of a body in chunks is unknown, and mostly near.
func EndsSoon(x *exchange.Request, unasked bool) bool { return !unasked && x.Req.Length <= MaxRest }

// keeps reports whether the connection can be used for another request. It must be called before
// Client.Answered.
func (c *Conn) keeps(x *connExchange) bool {
	return x.Req.KeepsAlive() && !c.g.IsClosing() && (x.upload.passed.Load() || EndsSoon(&x.Request, c.nc.Waits.Load()))
}

// readRest reads the rest of a body that a complete response did not need. With x.keep it reports
// whether the connection is at the next request then; else it makes the connection ready to be
// closed, after which the client can still read its response.
func (c *Conn) readRest(x *connExchange) bool {
	u := &x.upload
	if !x.whole || c.isGone() && errors.Is(c.watch.gone.cause, route.ErrClientGone) {
		return false
	}
	if x.keep && u.read {
		return true
	}
	c.now = time.Now()
	if !c.enter(phaseRest) {
		return false
	}
	if l := c.g.Linger(); x.keep {
		l.Bytes = MaxRest
		buf := x.buf[Headroom : Headroom+BufferSize]
		whole, err := l.Drop(c.nc, func() (int, error) { return c.readBody(u, buf) }, func() bool { return u.read })
		if whole && err == nil {
			return true
		}
	}
	if !u.read || c.in.len() > 0 {
		c.g.Linger().CloseWrite(c.nc, x.buf) // not into c.in, which x.Req points at
	}
	return false
}

// part ends a connection whose last response is sent.
func (c *Conn) part() {
	if c.enter(phaseRest) {
		c.g.Linger().CloseWrite(c.nc, c.in.buf)
	}
}

package gateway

import (
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/lib/clientlimit"
)

const (
	// maxRest is the length of the longest body, in bytes, whose rest is read behind a response
	// that did not need it, so that the connection is at the next request. The response to a
	// longer one says that it is the last one of its connection.
	maxRest = 64 << 20
	// stoppingTime is the time for the rest while the gateway stops, and of connections that are
	// not admitted.
	stoppingTime = time.Second
)

// linger are the limits for what a client sends behind its last response.
func (s *Server) linger() clientlimit.Linger {
	l := clientlimit.DefaultLinger()
	l.Silence = s.cfg.LingerTime
	if s.isClosing() {
		l.Time = stoppingTime
	}
	return l
}

// endsSoon reports whether the rest of a body may be read behind the response. unasked says that
// the client waits for a 100 (Continue) that it did not get: it may send the body, or not. The end
// of a body in chunks is unknown, and mostly near.
func endsSoon(x *request, unasked bool) bool { return !unasked && x.req.Length <= maxRest }

// keeps reports whether the connection can be used for another request. It must be called before
// client.answered.
func (c *conn) keeps(x *exchange) bool {
	return x.req.KeepsAlive() && !c.g.isClosing() && (x.upload.passed.Load() || endsSoon(&x.request, c.nc.waits.Load()))
}

// readRest reads the rest of a body that a complete response did not need. With x.keep it reports
// whether the connection is at the next request then; else it makes the connection ready to be
// closed, after which the client can still read its response.
func (c *conn) readRest(x *exchange) bool {
	u := &x.upload
	if !x.whole || c.isGone() && errors.Is(c.watch.gone.cause, errClientGone) {
		return false
	}
	if x.keep && u.read {
		return true
	}
	c.now = time.Now()
	if !c.enter(phaseRest) {
		return false
	}
	if l := c.g.linger(); x.keep {
		l.Bytes = maxRest
		buf := x.buf[headroom : headroom+bufferSize]
		whole, err := l.Drop(c.nc, func() (int, error) { return c.readBody(u, buf) }, func() bool { return u.read })
		if whole && err == nil {
			return true
		}
	}
	if !u.read || c.in.len() > 0 {
		c.g.linger().CloseWrite(c.nc, x.buf) // not into c.in, which x.req points at
	}
	return false
}

// part ends a connection whose last response is sent.
func (c *conn) part() {
	if c.enter(phaseRest) {
		c.g.linger().CloseWrite(c.nc, c.in.buf)
	}
}

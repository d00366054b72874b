package conn

import (
	"net"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
)

// Adopt returns a connection that a loop hands over. data is what the client has sent and no
// request has used. giveBack gives the connection back between two requests, and reports
// whether it did.
func (e *Engine) Adopt(nc net.Conn, p exchange.Peer, data []byte, giveBack func(*Conn) bool) *Conn {
	c := newConn(e, nc, p)
	c.giveBack = giveBack
	c.takeInputBuffer()
	c.in.reserve(len(data))
	c.in.w = copy(c.in.buf, data)
	return c
}

// ContinueWith makes c send the response to the request of a loop. up is the connection to the
// runtime; b is what the loop has read from it, and begins with the head of the response, of n bytes.
func (c *Conn) ContinueWith(from *exchange.Request, up net.Conn, reused bool, b []byte, n int) {
	x, _ := c.g.exchanges.Get().(*connExchange)
	x.begin()
	x.Request = *from
	x.InLoop = false
	x.upload.begin(&x.Req)
	x.upload.left, x.upload.read = 0, true
	x.upload.passed.Store(true)
	x.buf = slices.Grow(x.buf[:Headroom], len(b)+Tailroom)[:max(len(x.buf), Headroom+len(b)+Tailroom)]
	x.filled, x.reply = copy(x.buf[Headroom:], b), n
	_ = x.Resp.Parse(x.buf[Headroom : Headroom+n]) // it is valid: the loop has parsed it
	c.response, c.up = x, &route.UpConn{Conn: up, Reused: reused}
}

// OnlyPart makes c end the connection, whose last response is sent.
func (c *Conn) OnlyPart() { c.parting = true }

// Unused returns the connection if it can be given back: c is between two requests, and the client
// has sent nothing; else nil.
func (c *Conn) Unused() *net.TCPConn {
	tcp, ok := c.nc.Conn.(*net.TCPConn)
	if !ok || c.in.len() > 0 {
		return nil
	}
	return tcp
}

// Lend gives the connection back: it still counts, and c is closed. It reports false if the sweep
// has closed it.
func (c *Conn) Lend() bool {
	c.now = time.Now()
	c.lent = c.enter(phaseClosed)
	return c.lent
}

// Client returns the other end of the connection.
func (c *Conn) Client() exchange.Peer { return c.peer }

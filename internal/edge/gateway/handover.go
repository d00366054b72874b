package gateway

import (
	"net"
	"slices"
	"time"
)

// adopt returns a connection that a loop hands over. data is what the client has sent and no
// request has used. giveBack gives the connection back between two requests, and reports
// whether it did.
func (e *goEngine) adopt(nc net.Conn, p peer, data []byte, giveBack func(*conn) bool) *conn {
	c := newConn(e, nc, p)
	c.giveBack = giveBack
	c.takeInputBuffer()
	c.in.reserve(len(data))
	c.in.w = copy(c.in.buf, data)
	return c
}

// continueWith makes c send the response to the request of a loop. up is the connection to the
// runtime; b is what the loop has read from it, and begins with the head of the response, of n bytes.
func (c *conn) continueWith(from *request, up net.Conn, reused bool, b []byte, n int) {
	x, _ := c.g.exchanges.Get().(*exchange)
	x.begin()
	x.request = *from
	x.inLoop = false
	x.upload.begin(&x.req)
	x.upload.left, x.upload.read = 0, true
	x.upload.passed.Store(true)
	x.buf = slices.Grow(x.buf[:headroom], len(b)+tailroom)[:max(len(x.buf), headroom+len(b)+tailroom)]
	x.filled, x.reply = copy(x.buf[headroom:], b), n
	_ = x.resp.Parse(x.buf[headroom : headroom+n]) // it is valid: the loop has parsed it
	c.response, c.up = x, &upconn{Conn: up, reused: reused}
}

// onlyPart makes c end the connection, whose last response is sent.
func (c *conn) onlyPart() { c.parting = true }

// unused returns the connection if it can be given back: c is between two requests, and the client
// has sent nothing; else nil.
func (c *conn) unused() *net.TCPConn {
	tcp, ok := c.nc.Conn.(*net.TCPConn)
	if !ok || c.in.len() > 0 {
		return nil
	}
	return tcp
}

// lend gives the connection back: it still counts, and c is closed. It reports false if the sweep
// has closed it.
func (c *conn) lend() bool {
	c.now = time.Now()
	c.lent = c.enter(phaseClosed)
	return c.lent
}

// client returns the other end of the connection.
func (c *conn) client() peer { return c.peer }

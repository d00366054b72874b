package gateway

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/lib/clientlimit"
)

// client is a client's connection, the same for every engine. All methods are safe
// for concurrent use, except that only the sweep calls enforce.
type client struct {
	net.Conn
	cfg *ConnConfig

	// silent is set from the start of a request of HTTP/1.1 until the first byte of
	// its response: only then may probe send an interim response.
	silent  atomic.Bool
	probing sync.Mutex // held by probe, and while silent becomes false

	waits     atomic.Bool      // the client waits for a 100 (Continue) before it sends a body
	body      clientlimit.Pace // reads of request bodies
	response  clientlimit.Pace // writes
	handshake atomic.Int64     // unix milliseconds of the start of a websocket's handshake, 0 for none
	slow      atomic.Bool      // a body has exceeded Config.ClientTimeout
	late      atomic.Bool      // a handshake has exceeded it
}

// begin is called at the start of the request x.
func (c *client) begin(x *request) {
	c.silent.Store(x.req.Minor == 1) // HTTP/1.0 has no interim responses
	c.waits.Store(x.req.WantsContinue())
	if x.req.IsWebSocket() {
		c.handshake.Store(x.start.UnixMilli())
	}
}

// answered is called for each response of the runtime, interim or final.
func (c *client) answered(x *request) {
	c.waits.Store(false)
	if x.req.IsWebSocket() && (x.resp.Status >= 200 || x.resp.Status == 101) {
		c.handshake.Store(0)
	}
}

// Write writes a part of a response.
func (c *client) Write(b []byte) (int, error) {
	if c.silent.Load() {
		c.probing.Lock()
		c.silent.Store(false)
		c.probing.Unlock()
	}
	c.response.Begin()
	defer c.response.End()
	return c.Conn.Write(b)
}

// readBody reads a part of a request's body.
func (c *client) readBody(b []byte) (int, error) {
	c.body.Begin()
	defer c.body.End()
	return c.Read(b)
}

// CloseWrite closes the direction to the client. It fails if the connection cannot
// close one direction.
func (c *client) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return net.ErrClosed
}

// resetOnClose makes Close reset the connection and drop the bytes that the client has
// not received.
func (c *client) resetOnClose() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}

// enforce applies Config.ClientTimeout: it closes the connection of a client that does
// not read, and ends the reads of a body that does not arrive. It reports whether the
// runtime's connection is to be closed, because a handshake takes too long.
func (c *client) enforce(now time.Time) (late bool) {
	limit := c.cfg.ClientTimeout
	if c.response.StuckWrite(now, limit, c.Conn) {
		c.resetOnClose()
		_ = c.Close()
	}
	if !c.waits.Load() && c.body.Stuck(now, limit, c.response.Calls()) {
		c.slow.Store(true)
		_ = c.SetReadDeadline(time.Unix(1, 0))
	}
	began := c.handshake.Load()
	if began == 0 || now.UnixMilli()-began <= limit.Milliseconds() {
		return false
	}
	c.late.Store(true)
	return true
}

// bodyReader is the reader of a client's bodies.
type bodyReader client

func (b *bodyReader) Read(p []byte) (int, error) { return (*client)(b).readBody(p) }

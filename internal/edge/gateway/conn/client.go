package conn

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/lib/clientlimit"
)

// Client is a client's connection, the same for every engine. All methods are safe
// for concurrent use, except that only the sweep calls enforce.
type Client struct {
	net.Conn
	Config *Config

	// silent is set from the start of a request of HTTP/1.1 until the first byte of
	// its response: only then may probe send an interim response.
	silent  atomic.Bool
	probing sync.Mutex // held by probe, and while silent becomes false

	Waits     atomic.Bool      // the client waits for a 100 (Continue) before it sends a body
	body      clientlimit.Pace // reads of request bodies
	response  clientlimit.Pace // writes
	handshake atomic.Int64     // unix milliseconds of the start of a websocket's handshake, 0 for none
	Slow      atomic.Bool      // a body has exceeded Config.ClientTimeout
	Late      atomic.Bool      // a handshake has exceeded it
}

// Begin is called at the start of the request x.
func (c *Client) Begin(x *exchange.Request) {
	c.silent.Store(x.Req.Minor == 1) // HTTP/1.0 has no interim responses
	c.Waits.Store(x.Req.WantsContinue())
	if x.Req.IsWebSocket() {
		c.handshake.Store(x.Start.UnixMilli())
	}
}

// Answered is called for each response of the runtime, interim or final.
func (c *Client) Answered(x *exchange.Request) {
	c.Waits.Store(false)
	if x.Req.IsWebSocket() && (x.Resp.Status >= 200 || x.Resp.Status == 101) {
		c.handshake.Store(0)
	}
}

// Write writes a part of a response.
func (c *Client) Write(b []byte) (int, error) {
	if c.silent.Load() {
		c.probing.Lock()
		c.silent.Store(false)
		c.probing.Unlock()
	}
	c.response.Begin()
	defer c.response.End()
	return c.Conn.Write(b)
}

// ReadBody reads a part of a request's body.
func (c *Client) ReadBody(b []byte) (int, error) {
	c.body.Begin()
	defer c.body.End()
	return c.Read(b)
}

// CloseWrite closes the direction to the client. It fails if the connection cannot
// close one direction.
func (c *Client) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return net.ErrClosed
}

// resetOnClose makes Close reset the connection and drop the bytes that the client has
// not received.
func (c *Client) resetOnClose() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}

// Enforce applies Config.ClientTimeout: it closes the connection of a client that does
// not read, and ends the reads of a body that does not arrive. It reports whether the
// runtime's connection is to be closed, because a handshake takes too long.
func (c *Client) Enforce(now time.Time) (late bool) {
	limit := c.Config.ClientTimeout
	if c.response.StuckWrite(now, limit, c.Conn) {
		c.resetOnClose()
		_ = c.Close()
	}
	if !c.Waits.Load() && c.body.Stuck(now, limit, c.response.Calls()) {
		c.Slow.Store(true)
		_ = c.SetReadDeadline(time.Unix(1, 0))
	}
	began := c.handshake.Load()
	if began == 0 || now.UnixMilli()-began <= limit.Milliseconds() {
		return false
	}
	c.Late.Store(true)
	return true
}

// bodyReader is the reader of a client's bodies.
type bodyReader Client

func (b *bodyReader) Read(p []byte) (int, error) { return (*Client)(b).ReadBody(p) }

package gateway

import (
	"net"
	"sync"
	"sync/atomic"
)

// client is a client's connection, the same for every engine. All methods are safe
// for concurrent use.
type client struct {
	net.Conn
	cfg *Config

	// silent is set from the start of a request of HTTP/1.1 until the first byte of
	// its response: only then may probe send an interim response.
	silent  atomic.Bool
	probing sync.Mutex // held by probe, and while silent becomes false
	writes  atomic.Uint32
}

// expectResponse is called at the start of a request. interim reports whether the
// client accepts interim responses, which HTTP/1.0 has not.
func (c *client) expectResponse(interim bool) { c.silent.Store(interim) }

// Write writes a part of a response.
func (c *client) Write(b []byte) (int, error) {
	if c.silent.Load() {
		c.probing.Lock()
		c.silent.Store(false)
		c.probing.Unlock()
	}
	c.writes.Add(1)
	return c.Conn.Write(b)
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

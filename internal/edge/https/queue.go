package https

import (
	"crypto/tls"
	"net"
	"sync"

	"github.com/svcctl/svcctl/internal/lib/clientlimit"
)

// queue is a listener whose connections come from this process.
type queue struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newQueue(addr net.Addr) *queue {
	return &queue{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// put waits until c is accepted. It closes c if the queue is closed, and reports false.
func (q *queue) put(c net.Conn) bool {
	select {
	case q.conns <- c:
		return true
	case <-q.closed:
		_ = c.Close()
		return false
	}
}

// Accept implements net.Listener.
func (q *queue) Accept() (net.Conn, error) {
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (q *queue) Close() error {
	q.once.Do(func() { close(q.closed) })
	return nil
}

// Addr implements net.Listener.
func (q *queue) Addr() net.Addr { return q.addr }

// secure is a visitor's connection, for the gateway.
type secure struct{ *tls.Conn }

// Encrypted implements gateway.Encrypted.
func (secure) Encrypted() {}

// patient is a connection of HTTP/1.1 for the API. net/http knows no TLS of it: see ServeHTTP.
type patient struct{ *tls.Conn }

// CloseWrite ends the direction to the client and waits until the client has sent the rest of a body
// that was not read, as clientlimit.Guard does for connections without TLS.
func (c patient) CloseWrite() error {
	clientlimit.DefaultLinger().CloseWrite(c.Conn, make([]byte, dropBuffer))
	return nil
}

// dropBuffer is the size of the reads of what is dropped.
const dropBuffer = 32 << 10

// stream is a request of HTTP/2 as a connection, for the gateway. Its address is that of the
// visitor.
type stream struct {
	net.Conn
	from net.Addr
}

// RemoteAddr implements net.Conn.
func (s stream) RemoteAddr() net.Addr { return s.from }

// Encrypted implements gateway.Encrypted.
func (stream) Encrypted() {}

package control

import (
	"net"
	"net/http"
	"sync"
)

// The limits of a line. A ping must never wait behind one: that would look like a
// host that hangs. A ping has no body, and net/http lets the daemon take 1 GiB of
// answers that wait to be read, some 2,000 downloads that stall.
const (
	maxRequests  = 1 << 16   // under way
	bodyWindow   = 512 << 10 // bytes of one body that wait to be read
	uploadWindow = 4<<20 - 1 // bytes of all requests' bodies that do
	frameSize    = 64 << 10  // bytes
)

// h2 is HTTP/2 without TLS of its own: over TLS, the connection brings it.
func h2() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

// plain hides the type of a connection: over a tls.Conn, net/http would handshake
// again, and refuse HTTP/2 that was not negotiated in the handshake.
type plain struct{ net.Conn }

// single is a listener for one connection. Accept blocks once the connection was
// accepted, until Close.
type single struct {
	conn   net.Conn // nil once accepted
	once   sync.Once
	closed chan struct{}
}

func newSingle(conn net.Conn) *single { return &single{conn: plain{conn}, closed: make(chan struct{})} }

func (l *single) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *single) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (*single) Addr() net.Addr { return &net.UnixAddr{Name: "control", Net: "unix"} }

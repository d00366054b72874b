package clientlimit

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// sweepEvery is the time between two sweeps of a guard.
const sweepEvery = time.Second

const (
	// lingerBuffer is the size of the reads of a body that is dropped.
	lingerBuffer = 32 << 10
	// maxLingering is the number of connections whose bodies are dropped at the same time.
	maxLingering = 128
)

// problem is the body of the response above a limit.
const problem = `{"title":"Too many connections","status":503,"detail":"the server has too many open connections","code":"too_many_connections"}` + "\n"

// refusal is the response to a connection above a cap. Its connection is not read.
const refusal = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\nConnection: close\r\n\r\n" + problem

// Guard applies limits to the connections of a server of net/http. Use its Listener
// for the server and its ConnState as the server's hook of that name.
type Guard struct {
	// Timeout is the time without a byte after which a client is disconnected that
	// sends a body or reads a response.
	Timeout time.Duration
	Gate    *Gate

	stopped   atomic.Bool
	lingering atomic.Int32 // connections whose rest is dropped: they do not count in Gate

	mu    sync.Mutex // guards the fields below
	conns map[*guarded]struct{}
	timer *time.Timer // of the next sweep, while there are connections
}

// guarded is a connection under a guard.
type guarded struct {
	net.Conn
	guard  *Guard
	client netip.Addr
	busy   atomic.Bool // a request is in progress

	reads, writes Pace
	once, left    sync.Once
}

// Listener returns a listener for a server. It refuses connections above the caps with
// 503; clients on a loopback address, which may be a proxy, have no cap of their own.
func (g *Guard) Listener(l net.Listener) net.Listener { return &guardedListener{l, g} }

type guardedListener struct {
	net.Listener
	guard *Guard
}

// Accept returns the next admitted connection.
func (l *guardedListener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client := Client(nc.RemoteAddr(), netip.Addr.IsLoopback)
		if l.guard.Gate.Enter(client) == Admitted {
			return l.guard.add(nc, client), nil
		}
		_ = nc.SetWriteDeadline(time.Now().Add(sweepEvery))
		_, _ = nc.Write([]byte(refusal)) // into the empty buffer of the kernel: it does not wait
		_ = nc.Close()
	}
}

// Stop is for the hook of http.Server.RegisterOnShutdown: the server does not wait for bodies that are
// dropped.
func (g *Guard) Stop() { g.stopped.Store(true) }

func (g *Guard) add(nc net.Conn, client netip.Addr) *guarded {
	c := &guarded{Conn: nc, guard: g, client: client}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.conns == nil {
		g.conns = map[*guarded]struct{}{}
	}
	g.conns[c] = struct{}{}
	switch {
	case g.timer == nil:
		g.timer = time.AfterFunc(sweepEvery, func() { g.sweep(time.Now()) })
	case len(g.conns) == 1:
		g.timer.Reset(sweepEvery)
	}
	return c
}

// ConnState is the hook of http.Server.
func (g *Guard) ConnState(nc net.Conn, state http.ConnState) {
	if c, ok := nc.(*guarded); ok {
		c.busy.Store(state == http.StateActive)
	}
}

// sweep applies the time limit, and sets the timer again while there are connections.
func (g *Guard) sweep(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.conns {
		if c.writes.StuckWrite(now, g.Timeout, c.Conn) {
			if tcp, ok := c.Conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // drop what the client has not read
			}
			_ = c.Conn.Close()
		}
		if c.reads.Stuck(now, g.Timeout, c.writes.Calls()) {
			_ = c.SetReadDeadline(time.Unix(1, 0)) // the handler reports it
		}
	}
	if len(g.conns) > 0 {
		g.timer.Reset(sweepEvery)
	}
}

// Read reads for net/http. A read of one byte is the one that net/http has in progress
// during a request, after the body; it has no time limit.
func (c *guarded) Read(b []byte) (int, error) {
	if len(b) > 1 && c.busy.Load() {
		c.reads.Begin()
		defer c.reads.End()
	}
	return c.Conn.Read(b)
}

// Write writes a part of a response.
func (c *guarded) Write(b []byte) (int, error) {
	c.writes.Begin()
	defer c.writes.End()
	return c.Conn.Write(b)
}

// CloseWrite closes the direction to the client. net/http calls it after the answer to a request
// whose body was not read, half a second before Close; it waits here until the client has sent
// the rest, within the limits of DefaultLinger. Such a connection has no place among the
// connections of the guard any more.
func (c *guarded) CloseWrite() error {
	c.left.Do(func() { c.guard.Gate.Leave(c.client) })
	l := DefaultLinger()
	l.Stopped = c.guard.stopped.Load
	if c.guard.lingering.Add(1) > maxLingering {
		l.Bytes = 0
	}
	defer c.guard.lingering.Add(-1)
	l.CloseWrite(c.Conn, make([]byte, lingerBuffer))
	return nil
}

// Close closes the connection and ends its count.
func (c *guarded) Close() error {
	c.left.Do(func() { c.guard.Gate.Leave(c.client) })
	c.once.Do(func() {
		c.guard.mu.Lock()
		defer c.guard.mu.Unlock()
		delete(c.guard.conns, c)
	})
	return c.Conn.Close()
}

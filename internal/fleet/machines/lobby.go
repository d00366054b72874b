package machines

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/lib/clientlimit"
)

const (
	// maxJoining bounds the connections that have not joined yet: each has a descriptor before it has
	// shown a secret.
	maxJoining = 256
	// maxFromOne bounds those of one address: of one IPv4 address, or of one IPv6 network of 64 bits.
	maxFromOne = 16
	// firstByteLimit is the time for the first byte. A machine sends it with its connection.
	firstByteLimit = time.Second
)

// lobby is a listener. It has the connections that have not joined yet, oldest first, and closes
// one for a new one when it is full, so that connections that say nothing keep no machine out.
type lobby struct {
	net.Listener

	mu   sync.Mutex
	list []*guest
}

// guest is a connection in the lobby, until left.
type guest struct {
	net.Conn

	of    *lobby
	from  netip.Addr
	heard atomic.Bool // a byte has arrived
	timer *time.Timer // lobby.mu guards it
}

// Accept returns the next connection.
func (l *lobby) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	g := &guest{Conn: nc, of: l, from: clientlimit.Client(nc.RemoteAddr(), func(netip.Addr) bool { return false })}
	if out := l.enter(g); out != nil {
		_ = out.Close()
	}
	return g, nil
}

// enter adds g and returns the guest to close for it, nil for none.
func (l *lobby) enter(g *guest) (out *guest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g.timer = time.AfterFunc(firstByteLimit, func() {
		if !g.heard.Load() {
			_ = g.Close()
		}
	})
	count := map[netip.Addr]int{}
	for _, o := range l.list {
		count[o.from]++
	}
	switch {
	case count[g.from] >= maxFromOne:
		out = l.choose(func(o *guest) bool { return o.from == g.from })
	case len(l.list) >= maxJoining:
		most := 0
		for _, n := range count {
			most = max(most, n)
		}
		out = l.choose(func(o *guest) bool { return count[o.from] == most })
	}
	l.list = append(slices.DeleteFunc(l.list, func(o *guest) bool { return o == out }), g)
	return out
}

// choose returns the oldest guest that has said nothing; else the oldest one, of those that may
// be closed.
func (l *lobby) choose(may func(*guest) bool) *guest {
	silent := slices.IndexFunc(l.list, func(o *guest) bool { return may(o) && !o.heard.Load() })
	if silent < 0 {
		silent = slices.IndexFunc(l.list, may)
	}
	return l.list[silent]
}

// left takes g out of the lobby: it has joined, or is closed. It may be called again.
func (g *guest) left() {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	g.timer.Stop()
	g.of.list = slices.DeleteFunc(g.of.list, func(o *guest) bool { return o == g })
}

// Read notices the first byte.
func (g *guest) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	if n > 0 && !g.heard.Load() {
		g.heard.Store(true)
	}
	return n, err
}

// Close closes the connection.
func (g *guest) Close() error {
	g.left()
	return g.Conn.Close()
}

// leaveLobby takes the connection of a machine that has joined out of the lobby.
func leaveLobby(conn net.Conn) {
	if c, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = c.NetConn()
	}
	if g, ok := conn.(*guest); ok {
		g.left()
	}
}

package clientlimit

import (
	"net"
	"net/netip"
	"sync"
)

// Caps are maximum numbers of connections. 0 means no limit.
type Caps struct {
	Total     int
	PerClient int // of one IPv4 address, or one IPv6 network of 64 bits
}

// Verdict is the result of Enter.
type Verdict int

// The verdicts about a connection.
const (
	Admitted     Verdict = iota
	TooMany              // of all clients
	TooManyOfOne         // of this client
)

// Gate counts connections. Create one with NewGate. Methods are safe for concurrent
// use.
type Gate struct {
	caps Caps

	mu        sync.Mutex
	total     int
	perClient map[netip.Addr]int
}

// NewGate returns a gate without connections.
func NewGate(caps Caps) *Gate { return &Gate{caps: caps, perClient: map[netip.Addr]int{}} }

// Client returns the key of a client's address for Enter and Leave: invalid, for a
// client without a limit of its own, if addr is not a TCP address or exempt reports
// true for it.
func Client(addr net.Addr, exempt func(netip.Addr) bool) netip.Addr {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	if exempt(ip) {
		return netip.Addr{}
	}
	return Key(ip)
}

// Enter counts a connection of client. Unless the verdict is Admitted, it counts
// nothing.
func (g *Gate) Enter(client netip.Addr) Verdict {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case client.IsValid() && g.caps.PerClient > 0 && g.perClient[client] >= g.caps.PerClient:
		return TooManyOfOne
	case g.caps.Total > 0 && g.total >= g.caps.Total:
		return TooMany
	}
	g.total++
	if client.IsValid() {
		g.perClient[client]++
	}
	return Admitted
}

// Leave ends the count of an admitted connection.
func (g *Gate) Leave(client netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total--
	if !client.IsValid() {
		return
	}
	if g.perClient[client]--; g.perClient[client] == 0 {
		delete(g.perClient, client)
	}
}

// Count is the number of connections.
func (g *Gate) Count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.total
}

package exchange

import (
	"bytes"
	"net"
	"net/netip"
	"slices"

	"github.com/svcctl/svcctl/internal/svc"
)

// Peer is the other end of a connection.
type Peer struct {
	IP      string
	trusted bool // its X-Forwarded-* and Forwarded headers are believed
	HTTPS   bool // the connection was encrypted
	by      *trust
	Key     netip.Addr // of the count of its connections
}

// trust says which peers are believed. It does not change.
type trust struct {
	proxies  []netip.Prefix
	location bool // also when they say where a visitor is
	locate   func(netip.Addr) svc.Location
	sampled  func(trace []byte) bool // Config.Sampled
}

// SetTrustedProxies replaces Config.TrustedProxies and Config.LocationHeaders for
// connections that begin later.
func (s *Service) SetTrustedProxies(proxies []netip.Prefix, location bool) {
	if proxies == nil {
		proxies = loopback()
	}
	s.trust.Store(&trust{proxies: proxies, location: location, locate: s.cfg.Locate, sampled: s.cfg.Sampled})
}

func loopback() []netip.Prefix {
	return []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{127}), 8), netip.PrefixFrom(netip.IPv6Loopback(), 128)}
}

func newPeer(addr net.Addr, by *trust) Peer {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok { // a unix socket: a process of this machine
		return Peer{IP: netip.IPv6Loopback().String(), trusted: true, by: by}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	return Peer{IP: ip.String(), trusted: contains(by.proxies, ip), by: by}
}

// locates reports whether the peer is believed when it says where a visitor is.
func (p *Peer) locates() bool { return p.trusted && p.by.location }

func contains(prefixes []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// client returns the address of the client: the peer's own, or the last address in
// the list of a trusted proxy that is not a trusted proxy itself. The result may
// alias forwarded.
func (p *Peer) client(forwarded []byte) []byte {
	found := []byte(p.IP)
	for len(forwarded) > 0 {
		i := bytes.LastIndexByte(forwarded, ',')
		item := bytes.TrimSpace(forwarded[i+1:])
		ip, err := netip.ParseAddr(string(item))
		if err != nil {
			return found
		}
		found = item
		if !contains(p.by.proxies, ip.Unmap()) {
			return found
		}
		forwarded = forwarded[:max(i, 0)]
	}
	return found
}

// PeerOf returns the other end of a connection from an address.
func (s *Service) PeerOf(addr net.Addr) Peer { return newPeer(addr, s.trust.Load()) }

// IsProxy reports whether the requests from an address are believed about their clients.
func (p *Peer) IsProxy(ip netip.Addr) bool { return contains(p.by.proxies, ip) }

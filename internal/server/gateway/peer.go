package gateway

import (
	"bytes"
	"net"
	"net/netip"
	"slices"
)

// peer is the other end of a connection.
type peer struct {
	ip      string
	trusted bool // its X-Forwarded-* and Forwarded headers are believed
	cfg     *Config
	key     netip.Addr // of the count of its connections
}

func newPeer(addr net.Addr, cfg *Config) peer {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok { // a unix socket: a process of this machine
		return peer{ip: netip.IPv6Loopback().String(), trusted: true, cfg: cfg}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	return peer{ip: ip.String(), trusted: contains(cfg.TrustedProxies, ip), cfg: cfg}
}

// locates reports whether the peer is believed when it says where a visitor is.
func (p *peer) locates() bool { return p.trusted && p.cfg.LocationHeaders }

func contains(prefixes []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// client returns the address of the client: the peer's own, or the last address in
// the list of a trusted proxy that is not a trusted proxy itself. The result may
// alias forwarded.
func (p *peer) client(forwarded []byte) []byte {
	found := []byte(p.ip)
	for len(forwarded) > 0 {
		i := bytes.LastIndexByte(forwarded, ',')
		item := bytes.TrimSpace(forwarded[i+1:])
		ip, err := netip.ParseAddr(string(item))
		if err != nil {
			return found
		}
		found = item
		if !contains(p.cfg.TrustedProxies, ip.Unmap()) {
			return found
		}
		forwarded = forwarded[:max(i, 0)]
	}
	return found
}

package workerhost

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// specialRanges are the entries of IANA's registries of special-purpose IPv4 and
// IPv6 addresses, and the ranges of multicast, 6to4, Teredo, NAT64 and of
// IPv4-compatible and site-local IPv6 addresses. No public server is there, and
// some of them lead to this machine or its network under another name. workerd's
// own "public" lets most of them through.
//
//nolint:gochecknoglobals // a constant table
var specialRanges = []string{
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16",
	"192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001:db8::/32",
	"2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
}

// ownAddresses are the addresses of this machine's interfaces.
func ownAddresses() ([]netip.Addr, error) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("listing the addresses of this machine: %w", err)
	}
	var own []netip.Addr
	for _, a := range list {
		if ipnet, ok := a.(*net.IPNet); ok {
			if addr, ok := netip.AddrFromSlice(ipnet.IP); ok {
				own = append(own, addr.Unmap())
			}
		}
	}
	return own, nil
}

// outbound is the network of a worker: public addresses, without special ranges
// and this machine's own addresses, as the operator's policy changes that. Of two
// prefixes the narrower one decides; of two equal ones, the operator's Deny wins,
// then the operator's Allow.
func outbound(own []netip.Addr, p svc.NetworkPolicy) *workerd.Network {
	n := &workerd.Network{Allow: append([]string{"public"}, p.Allow...)}
	denied := slices.Clone(specialRanges)
	for _, a := range own {
		bits := a.BitLen()
		if a.Is6() {
			bits = 64 // a host with privacy extensions changes its address there every day
		}
		denied = append(denied, netip.PrefixFrom(a, bits).Masked().String())
	}
	for _, d := range denied {
		if !slices.Contains(p.Allow, d) { // workerd would let deny win
			n.Deny = append(n.Deny, d)
		}
	}
	n.Deny = append(n.Deny, p.Deny...)
	slices.Sort(n.Deny)
	n.Deny = slices.Compact(n.Deny)
	return n
}

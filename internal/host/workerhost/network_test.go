package workerhost

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

func TestOutbound(t *testing.T) {
	t.Parallel()
	own := []netip.Addr{netip.MustParseAddr("8.8.4.4"), netip.MustParseAddr("2606:4700::7")}
	n := outbound(own, svc.NetworkPolicy{})
	if !slices.Equal(n.Allow, []string{"public"}) {
		t.Errorf("allow %v", n.Allow)
	}
	// The findings of the review, and this machine's own public addresses.
	for _, address := range []string{
		"8.8.4.4", "2606:4700::7", "198.18.0.1", "0.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "::7f00:1",
		"fec0::1", "2001:db8::1", "100::1", "5f00::1", "10.1.2.3", "127.0.0.1", "169.254.169.254", "255.255.255.255", "ff02::1",
	} {
		if !covered(t, n.Deny, address) {
			t.Errorf("%s is not denied", address)
		}
	}
	for _, address := range []string{"8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450::1"} {
		if covered(t, n.Deny, address) {
			t.Errorf("%s is denied", address)
		}
	}
}

func TestOutboundPolicy(t *testing.T) {
	t.Parallel()
	own := []netip.Addr{netip.MustParseAddr("192.168.7.1")}
	n := outbound(own, svc.NetworkPolicy{Allow: []string{"192.168.7.1/32", "10.0.0.0/8"}, Deny: []string{"1.1.1.1/32", "10.0.0.0/8"}})
	if !slices.Equal(n.Allow, []string{"public", "192.168.7.1/32", "10.0.0.0/8"}) {
		t.Errorf("allow %v", n.Allow)
	}
	for prefix, want := range map[string]bool{"192.168.7.1/32": false, "192.168.0.0/16": true, "1.1.1.1/32": true, "10.0.0.0/8": true} {
		if got := slices.Contains(n.Deny, prefix); got != want {
			t.Errorf("deny has %s: %v", prefix, got)
		}
	}
}

func covered(t *testing.T, prefixes []string, address string) bool {
	t.Helper()
	return slices.ContainsFunc(prefixes, func(p string) bool {
		prefix, err := netip.ParsePrefix(p)
		if err != nil {
			t.Fatal(err)
		}
		return prefix.Contains(netip.MustParseAddr(address))
	})
}

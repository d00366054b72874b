package workerhost

import (
	"net/netip"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestUncovered: only a new address that the policy of a running workerd lets through counts.
func TestUncovered(t *testing.T) {
	t.Parallel()
	old := netip.MustParseAddr("8.8.4.4")
	n := outbound([]netip.Addr{old}, svc.NetworkPolicy{})
	for address, want := range map[string]bool{"8.8.4.4": false, "10.1.2.3": false, "127.0.0.1": false, "fe80::1": false, "8.8.8.8": true, "2606:4700::7": true} {
		a := netip.MustParseAddr(address)
		if got, is := uncovered([]netip.Addr{old, a}, n.Deny, svc.NetworkPolicy{}); is != want || is && got != a {
			t.Errorf("%s: %v %t", address, got, is)
		}
	}
	if a, is := uncovered([]netip.Addr{netip.MustParseAddr("8.8.8.8")}, n.Deny, svc.NetworkPolicy{Allow: []string{"8.8.8.8/32"}}); is {
		t.Errorf("the operator allows %s", a)
	}
}

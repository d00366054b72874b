package agent

import (
	"net"
	"testing"
)

// TestAnnounced: the server hears an address that gateways can reach.
func TestAnnounced(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ listens, address, want string }{
		{"10.0.0.1:8794", "", "10.0.0.1:8794"},
		{"0.0.0.0:8794", "", ":8794"},
		{"[::]:8794", "", ":8794"},
		{"[::]:8794", "10.1.2.3", "10.1.2.3:8794"},
		{"[::]:8794", "fd00::7", "[fd00::7]:8794"},
		{"[::]:8794", "[fd00::7]:443", "[fd00::7]:443"},
		{"127.0.0.1:8794", "host.example.com:80", "host.example.com:80"},
		{"127.0.0.1:8794", "host.example.com", "host.example.com:8794"},
	} {
		at, err := net.ResolveTCPAddr("tcp", tc.listens)
		if err != nil {
			t.Fatal(err)
		}
		if got := announced(at, tc.address); got != tc.want {
			t.Errorf("%s with --address %q: %q, want %q", tc.listens, tc.address, got, tc.want)
		}
	}
}

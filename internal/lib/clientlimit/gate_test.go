package clientlimit_test

import (
	"net"
	"net/netip"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/clientlimit"
)

func TestGate(t *testing.T) {
	t.Parallel()
	g := clientlimit.NewGate(clientlimit.Caps{Total: 4, PerClient: 2})
	one, other, exempt := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.Addr{}
	for i, step := range []struct {
		client netip.Addr
		want   clientlimit.Verdict
	}{
		{one, clientlimit.Admitted},
		{one, clientlimit.Admitted},
		{one, clientlimit.TooManyOfOne},
		{exempt, clientlimit.Admitted},
		{exempt, clientlimit.Admitted},
		{other, clientlimit.TooMany},
	} {
		if got := g.Enter(step.client); got != step.want {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
	}
	g.Leave(one)
	g.Leave(exempt)
	if g.Count() != 2 || g.Enter(one) != clientlimit.Admitted || g.Enter(other) != clientlimit.Admitted || g.Enter(exempt) != clientlimit.TooMany {
		t.Errorf("after two connections ended: %d connections", g.Count())
	}
}

func TestClient(t *testing.T) {
	t.Parallel()
	loopback := func(ip netip.Addr) bool { return ip.IsLoopback() }
	tcp := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 1} }
	for _, tc := range []struct {
		addr net.Addr
		want string
	}{
		{tcp("192.0.2.1"), "192.0.2.1"},
		{tcp("::ffff:192.0.2.1"), "192.0.2.1"},
		{tcp("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::"},
		{tcp("127.0.0.1"), "invalid IP"},
		{&net.UnixAddr{Name: "/s"}, "invalid IP"},
	} {
		if got := clientlimit.Client(tc.addr, loopback).String(); got != tc.want {
			t.Errorf("%v: %s, want %s", tc.addr, got, tc.want)
		}
	}
}

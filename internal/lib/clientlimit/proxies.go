package clientlimit

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
)

// Proxies are the peers whose X-Forwarded-For is believed. The zero value believes loopback
// addresses. It is safe for concurrent use.
type Proxies struct {
	list atomic.Pointer[[]netip.Prefix]
}

// Set replaces the peers; nil are loopback addresses.
func (p *Proxies) Set(list []netip.Prefix) {
	if list == nil {
		p.list.Store(nil)
		return
	}
	p.list.Store(&list)
}

func (p *Proxies) trust(ip netip.Addr) bool {
	list := p.list.Load()
	if list == nil {
		return ip.IsLoopback()
	}
	return slices.ContainsFunc(*list, func(prefix netip.Prefix) bool { return prefix.Contains(ip) })
}

// Client returns the address of a request's client: that of the peer, or the last address in the
// X-Forwarded-For of a trusted peer that is not a trusted peer itself. It is invalid for a peer
// without an address.
func (p *Proxies) Client(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	found := at.Addr().Unmap().WithZone("")
	list := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, item := range slices.Backward(list) {
		if !p.trust(found) {
			break
		}
		ip, err := netip.ParseAddr(strings.TrimSpace(item))
		if err != nil {
			break
		}
		found = ip.Unmap().WithZone("")
	}
	return found
}

// Key returns what counts as one client: an IPv4 address, or an IPv6 network of 64 bits, which one
// client has whole.
func Key(ip netip.Addr) netip.Addr {
	if ip.Is6() {
		network, _ := ip.Prefix(64) // 64 is valid for IPv6
		return network.Addr()
	}
	return ip
}

// PerClient limits the requests in progress of one client behind a trusted proxy. The connections
// of the other clients are limited (Caps.PerClient).
func (p *Proxies) PerClient(limit int, next http.Handler) http.Handler {
	gate := NewGate(Caps{PerClient: limit})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client := p.Client(r)
		if at, err := netip.ParseAddrPort(r.RemoteAddr); err != nil || at.Addr().Unmap().WithZone("") == client {
			next.ServeHTTP(w, r)
			return
		}
		key := Key(client)
		if gate.Enter(key) != Admitted {
			refuse(w)
			return
		}
		defer gate.Leave(key)
		next.ServeHTTP(w, r)
	})
}

// refuse answers a request above a limit, before its body.
func refuse(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Retry-After", "1")
	h.Set("Connection", "close")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write([]byte(problem))
}

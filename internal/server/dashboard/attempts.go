package dashboard

import (
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	maxFailures = 10          // failed sign-ins of one client in failureTime
	failureTime = time.Minute // after which they are forgotten
	maxClients  = 10000       // whose failures are remembered
)

// attempts counts failed sign-ins by the client's address. It is safe for concurrent use.
type attempts struct {
	mu    sync.Mutex
	since time.Time
	count map[string]int
}

// allowed reports whether a client may try to sign in.
func (a *attempts) allowed(client string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.count == nil || now.Sub(a.since) >= failureTime {
		a.since, a.count = now, map[string]int{}
	}
	_, known := a.count[client]
	return a.count[client] < maxFailures && (known || len(a.count) < maxClients)
}

// failed counts a failed sign-in.
func (a *attempts) failed(client string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.count == nil {
		a.count = map[string]int{}
	}
	a.count[client]++
}

// clientOf returns the address of a request's client: the network of 64 bits of an
// IPv6 address, which one client has whole.
func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		return ip.Mask(net.CIDRMask(64, 128)).String() //nolint:mnd // bits of a network and of an address
	}
	return host
}

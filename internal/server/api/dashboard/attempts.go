package dashboard

import (
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/lib/clientlimit"
)

const (
	maxFailures = 10          // failed sign-ins of one client in failureTime
	failureTime = time.Minute // after which they are forgotten
	maxClients  = 10000       // whose failures are remembered
)

// attempts counts sign-ins with a wrong token by the client's address. It is safe for concurrent
// use.
type attempts struct {
	mu    sync.Mutex
	since time.Time
	count map[netip.Addr]int
}

// allowed reports whether a client may try to sign in.
func (a *attempts) allowed(client netip.Addr, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.count == nil || now.Sub(a.since) >= failureTime {
		a.since, a.count = now, map[netip.Addr]int{}
	}
	_, known := a.count[client]
	return a.count[client] < maxFailures && (known || len(a.count) < maxClients)
}

// failed counts a failed sign-in.
func (a *attempts) failed(client netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.count == nil {
		a.count = map[netip.Addr]int{}
	}
	a.count[client]++
}

// clientOf returns what counts as the client of a request.
func (d *Dashboard) clientOf(r *http.Request) netip.Addr { return clientlimit.Key(d.cfg.Client(r)) }

package route

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/relay"
)

const (
	// directLimit is the time limit for a connection to a machine: its firewall may let none through.
	directLimit = time.Second
	// refusedFor is how long requests pass the server after a machine has refused one by routes that
	// this gateway has: the server knows why.
	refusedFor = 250 * time.Millisecond
	// The time between two tries to reach a machine that cannot be reached grows from one to the other.
	directRetry, maxDirectRetry = time.Second, 15 * time.Second
)

// ways are how a gateway on another machine reaches a runtime: directly at its machine, if that has
// an address, or through the server. Requests to preview names, which the server alone knows, always
// pass the server.
type ways struct {
	server func(context.Context) (net.Conn, error) // nil for a runtime of this machine
	direct func(context.Context) (net.Conn, error) // nil for none

	taken *taken // of the gateway, which requests add to

	lost func(error, time.Duration) // is called when the machine cannot be reached, with the time until the next try

	after    atomic.Int64 // unix nanoseconds: requests pass the server until then
	failures atomic.Int64 // tries to reach the machine in a row
}

// taken is the number of requests of a gateway by the way that they took.
type taken struct{ direct, server atomic.Uint64 }

func (t *taken) add(direct bool) {
	switch {
	case t == nil: // on the machine of the runtime
	case direct:
		t.direct.Add(1)
	default:
		t.server.Add(1)
	}
}

// Ways is the number of requests that a gateway on another machine than the runtimes has sent to
// their machines directly, and through the server. A request that is sent again counts again.
func (r *Router) Ways() (direct, server uint64) {
	return r.taken.direct.Load(), r.taken.server.Load()
}

// isDirect reports whether a request tries the machine now. While the machine cannot be reached,
// one request at a time does.
func (w *ways) isDirect(now time.Time) bool {
	if w.direct == nil {
		return false
	}
	after := w.after.Load()
	switch {
	case now.UnixNano() < after:
		return false
	case w.failures.Load() == 0:
		return true
	}
	return w.after.CompareAndSwap(after, now.Add(directLimit).UnixNano())
}

// avoid makes requests pass the server for a time. It reports false if they do already.
func (w *ways) avoid(now time.Time, d time.Duration) bool {
	if w.direct == nil || now.UnixNano() < w.after.Load() {
		return false
	}
	w.after.Store(now.Add(d).UnixNano())
	return true
}

// failed notes that the machine could not be reached.
func (w *ways) failed(err error) {
	n := w.failures.Add(1)
	wait := min(directRetry<<min(n-1, 5), maxDirectRetry)
	w.after.Store(time.Now().Add(wait).UnixNano())
	if n == 1 {
		w.lost(err, wait)
	}
}

// connect connects to the runtime, and says whether it did so directly.
func (w *ways) connect(ctx context.Context, direct bool) (nc net.Conn, isDirect bool, err error) {
	if direct {
		limited, cancel := context.WithTimeout(ctx, directLimit)
		nc, err = w.direct(limited)
		cancel()
		if err == nil || Moved(err) {
			w.failures.Store(0)
			return nc, true, err
		}
		if ctx.Err() == nil {
			w.failed(err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	nc, err = w.server(ctx)
	return nc, false, err
}

// waysTo returns how the runtime of a version, whose start has a key, is reached through r.cfg.Relay.
func (r *Router) waysTo(u *Upstream, d relay.Destination) {
	through := d
	through.Address, through.Pin = "", ""
	u.server, u.taken = r.way(through), &r.taken
	if d.Address == "" {
		return
	}
	u.direct = r.way(d)
	u.lost = func(err error, wait time.Duration) {
		r.cfg.Logger.Warn("a machine cannot be reached; requests pass the server", "version", d.Ref.String(), "address", d.Address, "error", err, "retry_in", wait)
	}
}

// way returns what connects to a runtime.
func (r *Router) way(d relay.Destination) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		c, err := r.cfg.Relay.Dial(ctx, d)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
}

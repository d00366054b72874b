package gateway

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/relay"
)

const (
	// maxIdle is the maximum number of spare connections to one runtime.
	maxIdle = 128
	// idleLimit is the time for which a spare connection is used: workerd closes a
	// connection after 15 s without a request.
	idleLimit = 5 * time.Second
	// dialTimeout is the time limit for a runtime whose accept queue is full.
	dialTimeout = 3 * time.Second
)

// upstream is one runtime process, with its claims and spare connections.
type upstream struct {
	socket string
	ways   // of a gateway on another machine
	*tally
	tunnels atomic.Int64 // open websockets, whose claims have ended

	delegated *delegated   // nil unless a machine admits requests itself
	grants    atomic.Int64 // claims of that machine

	mu   sync.Mutex
	idle []*upconn // the most recently used one last
}

// upconn is a connection to a runtime. One exchange at a time owns it.
type upconn struct {
	net.Conn
	spareSince time.Time
	deadline   time.Time // the read deadline that is set, zero for none
	reused     bool
	direct     bool // at the machine of the runtime
}

func newUpstream(socket string) *upstream { return &upstream{socket: socket, tally: newTally()} }

// retire refuses further claims and closes the spare connections. Requests in
// flight continue.
func (u *upstream) retire() {
	u.close()
	u.prune(time.Now().Add(2 * idleLimit))
}

// get returns a spare connection for the request of a claim, or a new one if there is no spare one
// or fresh is set.
func (u *upstream) get(ctx context.Context, cl *claim, now time.Time, fresh bool) (*upconn, error) {
	direct := cl.via == "" && u.isDirect(now)
	if fresh {
		u.prune(now.Add(2 * idleLimit)) // the runtime has probably closed all spare ones
	} else if c := u.spare(now, direct); c != nil {
		u.taken.add(direct)
		return c, nil
	}
	var nc net.Conn
	var err error
	if u.isRemote() {
		nc, direct, err = u.connect(ctx, direct)
	} else {
		nc, err = dial(ctx, u.socket)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the runtime: %w", err)
	}
	u.taken.add(direct)
	return &upconn{Conn: nc, direct: direct}, nil
}

// spare returns the spare connection of a way that was used last, nil for none.
func (u *upstream) spare(now time.Time, direct bool) *upconn {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, c := range slices.Backward(u.idle) {
		if now.Sub(c.spareSince) > idleLimit {
			return nil // the others are older; the sweep closes them
		}
		if c.direct == direct {
			u.idle = slices.Delete(u.idle, i, i+1)
			c.reused = true
			return c
		}
	}
	return nil
}

// put returns a connection whose last response was complete.
func (u *upstream) put(c *upconn, now time.Time) {
	c.spareSince = now
	if c.direct {
		u.failures.Store(0)
	}
	ended := c.end() // outside of the lock: a relay is written to
	u.mu.Lock()
	keep := ended == nil && len(u.idle) < maxIdle && !u.isClosed()
	if keep {
		u.idle = append(u.idle, c)
	}
	u.mu.Unlock()
	if !keep {
		_ = c.Close()
	}
}

// prune closes the connections that were not used within idleLimit of now.
func (u *upstream) prune(now time.Time) {
	u.mu.Lock()
	n := 0
	for n < len(u.idle) && now.Sub(u.idle[n].spareSince) > idleLimit {
		n++
	}
	old := append([]*upconn(nil), u.idle[:n]...)
	u.idle = append(u.idle[:0], u.idle[n:]...)
	u.mu.Unlock()
	for _, c := range old {
		_ = c.Close()
	}
}

// dial connects to a runtime of this machine.
func dial(ctx context.Context, socket string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return relay.DialSocket(ctx, socket)
}

// isRemote reports whether the runtime is on another machine than this gateway.
func (u *upstream) isRemote() bool { return u.server != nil }

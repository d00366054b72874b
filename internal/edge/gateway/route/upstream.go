package route

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/gate"
	"github.com/svcctl/svcctl/internal/fleet/relay"
)

const (
	// MaxIdle is the maximum number of spare connections to one runtime.
	MaxIdle = 128
	// IdleLimit is the time for which a spare connection is used: workerd closes a
	// connection after 15 s without a request.
	IdleLimit = 5 * time.Second
	// dialTimeout is the time limit for a runtime whose accept queue is full.
	dialTimeout = 3 * time.Second
)

// Upstream is one runtime process, with its claims and spare connections.
type Upstream struct {
	Socket string
	ways   // of a gateway on another machine
	*gate.Tally
	tunnels atomic.Int64 // open websockets, whose claims have ended

	delegated *delegated   // nil unless a machine admits requests itself
	grants    atomic.Int64 // claims of that machine

	mu   sync.Mutex
	idle []*UpConn // the most recently used one last
}

// UpConn is a connection to a runtime. One exchange at a time owns it.
type UpConn struct {
	net.Conn
	spareSince time.Time
	Deadline   time.Time // the read deadline that is set, zero for none
	Reused     bool
	direct     bool // at the machine of the runtime
}

func newUpstream(socket string) *Upstream { return &Upstream{Socket: socket, Tally: gate.NewTally()} }

// retire refuses further claims and closes the spare connections. Requests in
// flight continue.
func (u *Upstream) retire() {
	u.Close()
	u.prune(time.Now().Add(2 * IdleLimit))
}

// Get returns a spare connection for the request of a claim, or a new one if there is no spare one
// or fresh is set.
func (u *Upstream) Get(ctx context.Context, cl *Claim, now time.Time, fresh bool) (*UpConn, error) {
	direct := cl.via == "" && u.isDirect(now)
	if fresh {
		u.prune(now.Add(2 * IdleLimit)) // the runtime has probably closed all spare ones
	} else if c := u.spare(now, direct); c != nil {
		u.taken.add(direct)
		return c, nil
	}
	var nc net.Conn
	var err error
	if u.IsRemote() {
		nc, direct, err = u.connect(ctx, direct)
	} else {
		nc, err = Dial(ctx, u.Socket)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the runtime: %w", err)
	}
	u.taken.add(direct)
	return &UpConn{Conn: nc, direct: direct}, nil
}

// spare returns the spare connection of a way that was used last, nil for none.
func (u *Upstream) spare(now time.Time, direct bool) *UpConn {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, c := range slices.Backward(u.idle) {
		if now.Sub(c.spareSince) > IdleLimit {
			return nil // the others are older; the sweep closes them
		}
		if c.direct == direct {
			u.idle = slices.Delete(u.idle, i, i+1)
			c.Reused = true
			return c
		}
	}
	return nil
}

// Put returns a connection whose last response was complete.
func (u *Upstream) Put(c *UpConn, now time.Time) {
	c.spareSince = now
	if c.direct {
		u.failures.Store(0)
	}
	ended := c.end() // outside of the lock: a relay is written to
	u.mu.Lock()
	keep := ended == nil && len(u.idle) < MaxIdle && !u.IsClosed()
	if keep {
		u.idle = append(u.idle, c)
	}
	u.mu.Unlock()
	if !keep {
		_ = c.Close()
	}
}

// prune closes the connections that were not used within IdleLimit of now.
func (u *Upstream) prune(now time.Time) {
	u.mu.Lock()
	n := 0
	for n < len(u.idle) && now.Sub(u.idle[n].spareSince) > IdleLimit {
		n++
	}
	old := append([]*UpConn(nil), u.idle[:n]...)
	u.idle = append(u.idle[:0], u.idle[n:]...)
	u.mu.Unlock()
	for _, c := range old {
		_ = c.Close()
	}
}

// Dial connects to a runtime of this machine.
func Dial(ctx context.Context, socket string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return relay.DialSocket(ctx, socket)
}

// IsRemote reports whether the runtime is on another machine than this gateway.
func (u *Upstream) IsRemote() bool { return u.server != nil }

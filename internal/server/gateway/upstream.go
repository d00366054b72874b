package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// maxIdle is the maximum number of spare connections to one runtime.
	maxIdle = 128
	// idleLimit is the time for which a spare connection is used: workerd closes a
	// connection after 15 s without a request.
	idleLimit = 5 * time.Second
	// dialTimeout is the time limit for a runtime whose accept queue is full.
	dialTimeout = 3 * time.Second
	// dialRetry is the time between two tries then.
	dialRetry = 2 * time.Millisecond
)

// upstream is one runtime process, with its claims and spare connections.
type upstream struct {
	socket string
	remote func(context.Context) (net.Conn, error) // connects through a relay; nil for the socket
	*tally
	tunnels atomic.Int64 // open websockets, whose claims have ended

	mu   sync.Mutex
	idle []*upconn // the most recently used one last
}

// upconn is a connection to a runtime. One exchange at a time owns it.
type upconn struct {
	net.Conn
	spareSince time.Time
	deadline   time.Time // the read deadline that is set, zero for none
	reused     bool
}

func newUpstream(socket string) *upstream { return &upstream{socket: socket, tally: newTally()} }

// retire refuses further claims and closes the spare connections. Requests in
// flight continue.
func (u *upstream) retire() {
	u.close()
	u.prune(time.Now().Add(2 * idleLimit))
}

// get returns a spare connection, or a new one if there is no spare one or fresh is
// set.
func (u *upstream) get(ctx context.Context, now time.Time, fresh bool) (*upconn, error) {
	if fresh {
		u.prune(now.Add(2 * idleLimit)) // the runtime has probably closed all spare ones
	} else if c := u.spare(now); c != nil {
		return c, nil
	}
	nc, err := u.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to the runtime: %w", err)
	}
	return &upconn{Conn: nc}, nil
}

func (u *upstream) connect(ctx context.Context) (net.Conn, error) {
	if u.remote == nil {
		return dial(ctx, u.socket)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return u.remote(ctx)
}

func (u *upstream) spare(now time.Time) *upconn {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := len(u.idle)
	if n == 0 || now.Sub(u.idle[n-1].spareSince) > idleLimit {
		return nil // the others are older; the sweep closes them
	}
	c := u.idle[n-1]
	u.idle[n-1] = nil
	u.idle = u.idle[:n-1]
	c.reused = true
	return c
}

// put returns a connection whose last response was complete.
func (u *upstream) put(c *upconn, now time.Time) {
	c.spareSince = now
	ended := c.end() // outside of the lock: a relay is written to
	u.mu.Lock()
	keep := ended == nil && len(u.idle) < maxIdle && u.n.Load() < closedBit
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

// dial connects to a unix socket. The kernel reports a full accept queue of such a
// socket immediately, as EAGAIN: dial tries again until dialTimeout.
func dial(ctx context.Context, socket string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var d net.Dialer
	for {
		nc, err := d.DialContext(ctx, "unix", socket)
		if err == nil || !errors.Is(err, syscall.EAGAIN) {
			return nc, err
		}
		select {
		case <-time.After(dialRetry):
		case <-ctx.Done():
			return nil, err
		}
	}
}

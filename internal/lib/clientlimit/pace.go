package clientlimit

import (
	"net"
	"sync/atomic"
	"time"
)

// Pace tracks the reads, or the writes, of a connection. The zero value is ready to
// use. Begin, End and Calls may be called concurrently with Stuck.
type Pace struct {
	calls atomic.Uint32 // odd while a call is in progress

	// Of the sweep:
	seen, besides uint32
	since         time.Time
	unsent        int
}

// Begin reports the begin of a call. At most one call may be in progress.
func (p *Pace) Begin() { p.calls.Add(1) }

// End reports the end of a call.
func (p *Pace) End() { p.calls.Add(1) }

// Calls is a number that changes with each Begin and End.
func (p *Pace) Calls() uint32 { return p.calls.Load() }

// Stuck reports whether one call has been in progress for longer than limit, while
// besides, a number that shows other progress, did not change. Only one goroutine, the
// sweep, may call it.
func (p *Pace) Stuck(now time.Time, limit time.Duration, besides uint32) bool {
	calls := p.calls.Load()
	if calls%2 == 0 || calls != p.seen || besides != p.besides {
		p.seen, p.besides, p.since = calls, besides, now
		return false
	}
	return now.Sub(p.since) > limit
}

// StuckWrite is Stuck for writes to conn. A call also makes progress if the client
// acknowledges bytes that were written before: a write to a slow client takes long.
func (p *Pace) StuckWrite(now time.Time, limit time.Duration, conn net.Conn) bool {
	since := p.since
	stuck := p.Stuck(now, limit, p.besides)
	if p.since != since && p.seen%2 == 1 {
		p.unsent = Unsent(conn)
	}
	if !stuck {
		return false
	}
	left := Unsent(conn)
	if left < 0 || left == p.unsent {
		return true
	}
	p.unsent, p.since = left, now
	return false
}

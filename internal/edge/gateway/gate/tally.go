package gate

import (
	"sync"
	"sync/atomic"
)

// closedBit is larger than any count.
const closedBit = int64(1) << 62

// Tally counts claims. A closed tally refuses claims, and done is closed when the
// last claim is released. Create one with NewTally.
type Tally struct {
	n    atomic.Int64
	once sync.Once
	Done chan struct{}
}

// NewTally returns a tally without claims.
func NewTally() *Tally { return &Tally{Done: make(chan struct{})} }

// Acquire adds a claim, unless the tally is closed.
func (t *Tally) Acquire() bool {
	if t.n.Add(1) < closedBit {
		return true
	}
	t.Release()
	return false
}

// Release ends a claim.
func (t *Tally) Release() {
	if t.n.Add(-1) == closedBit {
		t.once.Do(func() { close(t.Done) })
	}
}

// Close makes the tally refuse claims. It may be called again.
func (t *Tally) Close() {
	if n := t.n.Or(closedBit); n == 0 || n == closedBit {
		t.once.Do(func() { close(t.Done) })
	}
}

// Count is the number of claims.
func (t *Tally) Count() int64 { return t.n.Load() &^ closedBit }

// IsClosed reports whether the tally takes no more claims.
func (t *Tally) IsClosed() bool { return t.n.Load() >= closedBit }

// IsDone reports whether the tally is closed and every claim was released.
func (t *Tally) IsDone() bool {
	select {
	case <-t.Done:
		return true
	default:
		return false
	}
}

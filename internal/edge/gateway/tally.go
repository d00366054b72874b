package gateway

import (
	"sync"
	"sync/atomic"
)

// closedBit is larger than any count.
const closedBit = int64(1) << 62

// tally counts claims. A closed tally refuses claims, and done is closed when the
// last claim is released. Create one with newTally.
type tally struct {
	n    atomic.Int64
	once sync.Once
	done chan struct{}
}

func newTally() *tally { return &tally{done: make(chan struct{})} }

// acquire adds a claim, unless the tally is closed.
func (t *tally) acquire() bool {
	if t.n.Add(1) < closedBit {
		return true
	}
	t.release()
	return false
}

func (t *tally) release() {
	if t.n.Add(-1) == closedBit {
		t.once.Do(func() { close(t.done) })
	}
}

// close makes the tally refuse claims. It may be called again.
func (t *tally) close() {
	if n := t.n.Or(closedBit); n == 0 || n == closedBit {
		t.once.Do(func() { close(t.done) })
	}
}

// count is the number of claims.
func (t *tally) count() int64 { return t.n.Load() &^ closedBit }

// isClosed reports whether the tally takes no more claims.
func (t *tally) isClosed() bool { return t.n.Load() >= closedBit }

// isDone reports whether the tally is closed and every claim was released.
func (t *tally) isDone() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

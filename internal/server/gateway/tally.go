package gateway

import (
	"sync"
	"sync/atomic"
)

// closedBit is far above any count.
const closedBit = int64(1) << 62

// tally counts claims until it is closed; then it takes no more, and done is
// closed when the last one is given back. Make one with newTally.
type tally struct {
	n    atomic.Int64
	once sync.Once
	done chan struct{}
}

func newTally() *tally { return &tally{done: make(chan struct{})} }

// acquire takes a claim, unless the tally is closed.
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

// close refuses claims from now on. It may be called again.
func (t *tally) close() {
	if n := t.n.Or(closedBit); n == 0 || n == closedBit {
		t.once.Do(func() { close(t.done) })
	}
}

// count is the number of claims out.
func (t *tally) count() int64 { return t.n.Load() &^ closedBit }

// isDone reports whether it is closed and every claim was given back.
func (t *tally) isDone() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

package gate

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Gate controls the requests of a project's production host [D20]. A request
// enters an epoch; a hold closes the current epoch, a release begins the next one.
// The requests that were claimed before the hold are in a past epoch, and drain
// waits for them.
type Gate struct {
	cur atomic.Pointer[Epoch]

	mu   sync.Mutex
	past []*Epoch // closed, and possibly not empty
	cut  cutOver  // the last hold

	share sharing
}

// Epoch is the time between two holds, with the requests that were claimed in it.
type Epoch struct {
	*Tally
	Over chan struct{} // closed when the epoch after this one has begun

	waited atomic.Bool // a request came while the gate was held
	first  atomic.Int64
	last   atomic.Int64
}

// New returns a gate that is open.
func New() *Gate {
	g := &Gate{}
	g.cur.Store(newEpoch())
	return g
}

func newEpoch() *Epoch { return &Epoch{Tally: NewTally(), Over: make(chan struct{})} }

// Enter enters the current epoch; ok is false while the gate is held, and then the
// caller waits until the epoch is over and tries again.
func (g *Gate) Enter() (e *Epoch, ok bool) {
	e = g.cur.Load()
	if ok = e.Acquire(); !ok {
		e.waited.Store(true)
	}
	return e, ok
}

// Current returns the epoch of the requests that are claimed now. It is closed while the gate is held.
func (g *Gate) Current() *Epoch { return g.cur.Load() }

// Hold closes the gate. Holding a held gate changes nothing.
func (g *Gate) Hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.share.release = false
	g.close()
}

// close closes the current epoch. g.mu must be held.
func (g *Gate) close() {
	e := g.cur.Load()
	e.Close()
	if len(g.past) > 0 && g.past[len(g.past)-1] == e {
		return
	}
	kept := g.past[:0]
	for _, p := range g.past {
		if p.Count() > 0 {
			kept = append(kept, p)
		}
	}
	g.past = append(kept, e)
	g.cut = cutOver{old: e, began: time.Now()}
}

// Release opens a held gate, as soon as no machine admits requests by an earlier grant.
func (g *Gate) Release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.share.revoking > 0 {
		g.share.release = true
		return
	}
	g.open()
}

// open begins the next epoch, unless the current one is not closed. g.mu must be held.
func (g *Gate) open() {
	g.share.release = false
	e := g.cur.Load()
	if e.n.Load() < closedBit {
		return // not held
	}
	g.cut.next, g.cut.ended = newEpoch(), time.Now()
	g.cur.Store(g.cut.next)
	close(e.Over)
}

// Drain waits for the requests claimed before the last hold.
func (g *Gate) Drain(ctx context.Context) error {
	g.mu.Lock()
	past := append([]*Epoch(nil), g.past...)
	g.mu.Unlock()
	for i, e := range past {
		select {
		case <-e.Done:
		case <-ctx.Done():
			var left int64
			for _, e := range past[i:] {
				left += e.Count()
			}
			return fmt.Errorf("%d requests still run: %w", left, context.Cause(ctx))
		}
	}
	return nil
}

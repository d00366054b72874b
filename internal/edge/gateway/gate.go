package gateway

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// gate controls the requests of a project's production host [D20]. A request
// enters an epoch; a hold closes the current epoch, a release begins the next one.
// The requests that were claimed before the hold are in a past epoch, and drain
// waits for them.
type gate struct {
	cur atomic.Pointer[epoch]

	mu   sync.Mutex
	past []*epoch // closed, and possibly not empty
	cut  cutOver  // the last hold

	share sharing
}

type epoch struct {
	*tally
	over chan struct{} // closed when the epoch after this one has begun

	waited atomic.Bool // a request came while the gate was held
	first  atomic.Int64
	last   atomic.Int64
}

func newGate() *gate {
	g := &gate{}
	g.cur.Store(newEpoch())
	return g
}

func newEpoch() *epoch { return &epoch{tally: newTally(), over: make(chan struct{})} }

// enter enters the current epoch; ok is false while the gate is held, and then the
// caller waits until the epoch is over and tries again.
func (g *gate) enter() (e *epoch, ok bool) {
	e = g.cur.Load()
	if ok = e.acquire(); !ok {
		e.waited.Store(true)
	}
	return e, ok
}

// current returns the epoch of the requests that are claimed now. It is closed while the gate is held.
func (g *gate) current() *epoch { return g.cur.Load() }

// hold closes the gate. Holding a held gate changes nothing.
func (g *gate) hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.share.release = false
	g.close()
}

// close closes the current epoch. g.mu must be held.
func (g *gate) close() {
	e := g.cur.Load()
	e.close()
	if len(g.past) > 0 && g.past[len(g.past)-1] == e {
		return
	}
	kept := g.past[:0]
	for _, p := range g.past {
		if p.count() > 0 {
			kept = append(kept, p)
		}
	}
	g.past = append(kept, e)
	g.cut = cutOver{old: e, began: time.Now()}
}

// release opens a held gate, as soon as no machine admits requests by an earlier grant.
func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.share.revoking > 0 {
		g.share.release = true
		return
	}
	g.open()
}

// open begins the next epoch, unless the current one is not closed. g.mu must be held.
func (g *gate) open() {
	g.share.release = false
	e := g.cur.Load()
	if e.n.Load() < closedBit {
		return // not held
	}
	g.cut.next, g.cut.ended = newEpoch(), time.Now()
	g.cur.Store(g.cut.next)
	close(e.over)
}

// drain waits for the requests claimed before the last hold.
func (g *gate) drain(ctx context.Context) error {
	g.mu.Lock()
	past := append([]*epoch(nil), g.past...)
	g.mu.Unlock()
	for i, e := range past {
		select {
		case <-e.done:
		case <-ctx.Done():
			var left int64
			for _, e := range past[i:] {
				left += e.count()
			}
			return fmt.Errorf("%d requests still run: %w", left, context.Cause(ctx))
		}
	}
	return nil
}

package dataplane

import (
	"context"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// How a cut gets its moment while somebody writes for long, an import say: it
// holds newcomers for a little while only, again and again, and then gives up.
const (
	gateHold  = 250 * time.Millisecond
	gatePause = time.Second
	gateLimit = 30 * time.Second // less than a fork may take
)

// gate lets any number of writers in, or one cut. Safe for concurrent use.
type gate struct {
	turn chan struct{} // holds a token while a cut wants in, or is

	mu      sync.Mutex // guards what follows
	writers int
	shut    chan struct{} // closed when writers may come in again; nil while they may
	empty   chan struct{} // closed when the last writer has left; nil while nobody waits for that
}

func newGate() *gate { return &gate{turn: make(chan struct{}, 1)} }

// enter lets a writer in, who leaves by leave.
func (g *gate) enter(ctx context.Context) error {
	for {
		g.mu.Lock()
		shut := g.shut
		if shut == nil {
			g.writers++
		}
		g.mu.Unlock()
		if shut == nil {
			return nil
		}
		select {
		case <-shut:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.writers--; g.writers == 0 && g.empty != nil {
		close(g.empty)
		g.empty = nil
	}
}

// own waits until no writer is in and keeps them out until release is called.
func (g *gate) own(ctx context.Context) (release func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, gateLimit, svc.Errorf(svc.Unavailable, "parent_busy",
		"something writes to the data for longer than %v, so there is no moment to branch it at", gateLimit).
		WithHint("wait for the import or the query to end, and deploy again"))
	defer cancel()
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	for !g.close(ctx) {
		g.open()
		select {
		case <-time.After(gatePause):
		case <-ctx.Done():
			<-g.turn
			return nil, context.Cause(ctx)
		}
	}
	return func() { g.open(); <-g.turn }, nil
}

// close keeps newcomers out and tells whether those who are in have left.
func (g *gate) close(ctx context.Context) bool {
	g.mu.Lock()
	g.shut = make(chan struct{})
	if g.writers == 0 {
		g.mu.Unlock()
		return true
	}
	empty := make(chan struct{})
	g.empty = empty
	g.mu.Unlock()
	select {
	case <-empty:
		return true
	case <-time.After(gateHold):
	case <-ctx.Done():
	}
	return false
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.shut)
	g.shut, g.empty = nil, nil
}

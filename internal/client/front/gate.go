package front

import (
	"context"
	"sync"
)

// gate counts requests in flight and makes new ones wait while it is held.
type gate struct {
	mu       sync.Mutex
	target   *Target
	open     chan struct{} // closed when the hold ends; nil without a hold
	inflight int
	idle     chan struct{} // closed when inflight becomes 0; nil without a drain
}

// enter waits for the end of a hold and counts the request in. The target is that of
// this moment; it is nil before the first switch. leave counts the request out; it
// may be called again.
func (g *gate) enter(ctx context.Context) (target *Target, leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.open != nil {
		wait := g.open
		g.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		g.mu.Lock()
		if err != nil {
			return nil, nil, err
		}
	}
	g.inflight++
	return g.target, sync.OnceFunc(g.leave), nil
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inflight--; g.inflight == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

func (g *gate) hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = make(chan struct{})
	}
}

func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open != nil {
		close(g.open)
		g.open = nil
	}
}

func (g *gate) drain(ctx context.Context) error {
	g.mu.Lock()
	if g.inflight == 0 {
		g.mu.Unlock()
		return nil
	}
	if g.idle == nil {
		g.idle = make(chan struct{})
	}
	idle := g.idle
	g.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *gate) turn(t *Target) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.target = t
}

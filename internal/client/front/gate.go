package front

import (
	"context"
	"sync"
)

// gate counts requests in flight and makes new ones wait while it is held.
type gate struct {
	mu     sync.Mutex
	target *Target
	open   chan struct{} // closed when the hold ends; nil without a hold

	inflight   count // requests
	unanswered count // those of them whose answer has not begun
}

// count is a number and those who wait until it is 0. The mutex of the gate guards it.
type count struct {
	n    int
	zero chan struct{} // closed when n becomes 0; nil if none waits
}

func (c *count) add(n int) {
	if c.n += n; c.n == 0 && c.zero != nil {
		close(c.zero)
		c.zero = nil
	}
}

// pass is one request in flight. Its methods may be called again; those of the zero pass do nothing.
type pass struct {
	answered func() // the answer has begun
	left     func() // the request has ended
}

func (p pass) answer() {
	if p.answered != nil {
		p.answered()
	}
}

func (p pass) leave() {
	p.answer()
	if p.left != nil {
		p.left()
	}
}

// enter waits for the end of a hold and counts the request in. The target is that of
// this moment; it is nil before the first switch.
func (g *gate) enter(ctx context.Context) (target *Target, p pass, err error) {
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
			return nil, pass{}, err
		}
	}
	return g.target, pass{answered: g.counted(&g.unanswered), left: g.counted(&g.inflight)}, nil
}

// counted adds 1 to a count, and returns what takes it back.
func (g *gate) counted(c *count) (back func()) {
	c.add(1)
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		c.add(-1)
	})
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

// drain waits until a count of g is 0.
func (g *gate) drain(ctx context.Context, c *count) error {
	g.mu.Lock()
	if c.n == 0 {
		g.mu.Unlock()
		return nil
	}
	if c.zero == nil {
		c.zero = make(chan struct{})
	}
	zero := c.zero
	g.mu.Unlock()
	select {
	case <-zero:
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

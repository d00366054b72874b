package gate

import (
	"context"
	"fmt"
)

// sharing is the part of a gate that concerns machines which admit requests themselves. Gate.mu
// guards it.
type sharing struct {
	off      bool // no machine is granted the host name
	revoking int  // grants that a machine may still use
	release  bool // the gate opens after the last of them
	settled  chan struct{}
}

// IsShared reports whether a machine may be granted the host name.
func (g *Gate) IsShared() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.share.off && !g.cur.Load().IsClosed()
}

// SetShared says whether machines may be granted the host name.
func (g *Gate) SetShared(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.share.off = !on
}

// Revoking counts a grant that is being revoked.
func (g *Gate) Revoking() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.share.revoking++; g.share.settled == nil {
		g.share.settled = make(chan struct{})
	}
}

// Revoked reports whether the gate opens because no machine can use an earlier grant any more.
func (g *Gate) Revoked() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.share.revoking--; g.share.revoking > 0 {
		return false
	}
	close(g.share.settled)
	g.share.settled = nil
	if !g.share.release {
		return false
	}
	g.open()
	return true
}

// Pause closes the gate until release, and reports whether it was open.
func (g *Gate) Pause() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cur.Load().IsClosed() {
		return false
	}
	g.close()
	return true
}

// Settle waits until no machine can use a grant that was revoked.
func (g *Gate) Settle(ctx context.Context) error {
	for {
		g.mu.Lock()
		settled := g.share.settled
		g.mu.Unlock()
		if settled == nil {
			return nil
		}
		select {
		case <-settled:
		case <-ctx.Done():
			return fmt.Errorf("a machine has not confirmed that it admits no requests: %w", context.Cause(ctx))
		}
	}
}

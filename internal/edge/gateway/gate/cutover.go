package gate

import (
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// cutOver is a hold of a production host and the epochs around it. Gate.mu guards it.
type cutOver struct {
	began, ended time.Time
	switched     bool   // the host name got another version meanwhile
	old, next    *Epoch // next is nil while the gate is held
}

// Answered records the end of a request that was answered: the last one of an epoch that
// is closed, the first one of an epoch that is not.
func (e *Epoch) Answered() {
	switch {
	case e.IsClosed():
		e.last.Store(time.Now().UnixNano())
	case e.first.Load() == 0:
		e.first.CompareAndSwap(0, time.Now().UnixNano())
	}
}

// Switched records that the host name has another version now.
func (g *Gate) Switched() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cut.switched = g.cut.old != nil && g.cut.next == nil
}

// measure computes the times of a cut-over that has ended.
func (c *cutOver) measure() (m svc.CutOver) {
	if !c.switched || c.next == nil {
		return m
	}
	m.Held = max(c.ended.Sub(c.began), time.Microsecond)
	first := c.next.first.Load()
	if !c.old.waited.Load() || first == 0 {
		return m
	}
	// An old answer that ended after the first new one leaves no window.
	last := max(c.old.last.Load(), c.began.UnixNano())
	m.Window = max(time.Duration(first-last), time.Microsecond)
	return m
}

// CutOver returns how long the last hold took, in which the host name got another version.
func (g *Gate) CutOver() svc.CutOver {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cut.measure()
}

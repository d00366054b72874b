package gateway

// PendingTimers is the number of delayed actions that have not begun.
func (g *Gateway) PendingTimers() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.timers)
}

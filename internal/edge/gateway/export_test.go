package gateway

// PendingTimers is the number of delayed calls that have not begun.
func (g *Gateway) PendingTimers() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.timers)
}

// Held is the number of requests that wait for a promote or a start.
func (g *Gateway) Held() int { return int(g.held.Load()) }

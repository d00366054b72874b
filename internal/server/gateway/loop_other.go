//go:build !linux

package gateway

// newLoopEngine returns the engine go: the event loops need Linux.
//
//nolint:ireturn // the operator chooses the engine
func newLoopEngine(g *Gateway) engine {
	g.cfg.Logger.Warn("event loops need Linux; serving with the engine go")
	return newGoEngine(g)
}

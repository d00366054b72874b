//go:build !linux

package gateway

// newLoopEngine returns the engine go: the event loops need Linux.
//
//nolint:ireturn // the operator chooses the engine
func newLoopEngine(g *Gateway) engine {
	return newGoEngine(g)
}

//go:build !linux

package gateway

// HasLoops says whether this system has event loops.
const HasLoops = false

// loopEngine is GoEngine: the event loops need Linux.
type loopEngine struct{ *GoEngine }

// NewLoopEngine returns an engine.
func NewLoopEngine(s *Server) *loopEngine { return &loopEngine{NewGoEngine(s)} }

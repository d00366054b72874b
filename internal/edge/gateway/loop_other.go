//go:build !linux

package gateway

// hasLoops says whether this system has event loops.
const hasLoops = false

// loopEngine is goEngine: the event loops need Linux.
type loopEngine struct{ *goEngine }

func newLoopEngine(s *Server) *loopEngine { return &loopEngine{newGoEngine(s)} }

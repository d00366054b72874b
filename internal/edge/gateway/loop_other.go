//go:build !linux

package gateway

import "github.com/svcctl/svcctl/internal/edge/gateway/conn"

// HasLoops says whether this system has event loops.
const HasLoops = false

// loopEngine is conn.Engine: the event loops need Linux.
type loopEngine struct{ *conn.Engine }

// NewLoopEngine returns an engine.
func NewLoopEngine(s *conn.Server) *loopEngine { return &loopEngine{conn.NewEngine(s)} }

//go:build !linux

package loop

import "github.com/svcctl/svcctl/internal/edge/gateway/conn"

// IsAvailable says whether this system has event loops.
const IsAvailable = false

// Engine is conn.Engine: the event loops need Linux.
type Engine struct{ *conn.Engine }

// New returns an engine.
func New(s *conn.Server) *Engine { return &Engine{conn.NewEngine(s)} }

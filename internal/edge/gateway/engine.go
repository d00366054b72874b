package gateway

import (
	"context"
	"net"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/loop"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
)

// Engine names an implementation of HTTP.
type Engine string

// The engines.
const (
	EngineGo   Engine = "go"   // the gateway's own HTTP/1.1
	EngineLoop Engine = "loop" // the same with event loops; it is EngineGo on other systems than Linux
)

// engine implements HTTP with clients and runtimes. The gateway makes the decisions
// about a request, the same ones for each engine: the route, the wait
// (Service.Forward), the heads for runtime and client (exchange.Request), the errors, and
// what is counted. An engine moves the bytes, within the limits of Config.
//
// The connections of an engine count in Server.Running.
type engine interface {
	// Serve accepts connections until ln is closed.
	Serve(ctx context.Context, ln net.Listener) error
	// Sweep closes the connections that exceed a time limit, and returns how many there were.
	Sweep(now time.Time) int
	// CloseIdle closes the connections between two requests, and each other
	// connection after its request. It is called once, when Router.Stop was called.
	CloseIdle()
	// CloseFresh closes the connections whose first request has not arrived. It is
	// called Config.FreshTime after CloseIdle.
	CloseFresh()
	// Evict closes a connection without a request, and reports whether it found one.
	Evict() bool
	// Prune closes the engine's own spare connections to a runtime that was retired. It
	// does not wait.
	Prune(u *route.Upstream)
	// Abort closes every connection, and the connections to runtimes that serve
	// them.
	Abort()
}

// engines has the constructor of each engine. The tests of this package add net/http.
//
//nolint:gochecknoglobals // a table; it does not change after the init functions
var engines = map[Engine]func(*conn.Server) engine{
	EngineGo:   func(s *conn.Server) engine { return conn.NewEngine(s) },
	EngineLoop: func(s *conn.Server) engine { return loop.New(s) },
}

//nolint:ireturn // the operator chooses the engine
func newEngine(name Engine, s *conn.Server) engine {
	create, ok := engines[name]
	if !ok {
		panic("gateway: no engine " + string(name))
	}
	return create(s)
}

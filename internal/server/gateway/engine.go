package gateway

import (
	"context"
	"net"
	"time"
)

// Engine names one of the programs that carry requests.
type Engine string

// The engines.
const (
	EngineGo  Engine = "go"  // the gateway's own HTTP/1.1
	EngineStd Engine = "std" // net/http
)

// engine speaks HTTP with clients and runtimes. What is decided about a request
// is the gateway's and the same for every engine: where it goes, whether it
// waits (Gateway.forward), the heads that runtime and client get (request), the
// errors, and what is counted. An engine moves the bytes, within the limits of
// Config.
//
// Its connections count in Gateway.running. None may begin once Gateway.closing
// is set, which Gateway.mu guards.
type engine interface {
	// serve accepts connections until ln is closed.
	serve(ctx context.Context, ln net.Listener) error
	// sweep closes the connections that idle, or send a head, for too long.
	sweep(now time.Time)
	// closeIdle closes the connections without a request, and each other one
	// after its request. It is called once, when Gateway.closing is set.
	closeIdle()
	// abort closes every connection, and those to runtimes that serve them.
	abort()
}

//nolint:ireturn // which one is the operator's choice
func newEngine(g *Gateway) engine {
	switch g.cfg.Engine {
	case EngineGo:
		return newGoEngine(g)
	case EngineStd:
		return newStdEngine(g)
	}
	panic("gateway: no engine " + string(g.cfg.Engine))
}

// Package gateway serves user traffic: it finds the version that the Host of a
// request names, claims the version's runtime, and copies the request to the
// runtime and the response back over a unix socket. spec: [C6.1] to [C6.10], [D3] [D4] [D20] [D44] [D45].
//
// # Packages
//
// Gateway puts the parts together: configuration, serving, the sweep for idle connections, shutdown.
// The parts are packages of their own. Each imports those that follow, and none before it:
//
//   - loop: the engine with event loops, which is the default. Linux only.
//   - conn: the engine with a goroutine for each connection; the limits and the number of connections.
//   - exchange: the heads of requests and responses, errors, static files, what is counted.
//   - route: the routes of all versions, and the claims of their runtimes.
//   - gate: holds and drains: counts of the claims.
//
// # Engines
//
// The decisions about a request exist once (Router.Take, Service.Forward, exchange.Request); an engine
// moves the bytes. There are two engines: go, of package conn, and loop, which serves most
// requests with event loops and hands the others over to conn. The tests
// have a third one, stdEngine, which is net/http. TestDifferential compares both
// engines with it.
//
// # Ownership and failure
//
// Serve owns its listener and connections until Shutdown. All methods are safe
// for concurrent use. If a runtime fails, the response of that request is 502
// runtime_unavailable; other requests are not affected. A response that ends early
// closes its connection, so that a client cannot mistake it for a complete one.
package gateway

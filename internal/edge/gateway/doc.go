// Package gateway serves user traffic: it finds the version that the Host of a
// request names, claims the version's runtime, and copies the request to the
// runtime and the response back over a unix socket. spec: [C6.1] to [C6.10], [D3] [D4] [D20] [D44] [D45].
//
// # Routing
//
// The routes are in an immutable table behind an atomic pointer. Each change
// (SetVersion, RemoveVersion, SetProduction) builds a new table; a request reads
// the table without a lock. The table is a projection of the registry: it is not
// stored, the daemon fills it at start.
//
// # Claim before use
//
// A request claims a runtime before it uses the runtime, and releases the claim
// when the request is done. A retired runtime refuses claims, so a drain waits
// for a number of requests that only falls. The production host has claims of
// its own (see gate): Hold makes new requests wait, DrainProduction waits for the
// requests that were claimed before the hold, Release ends the wait.
//
// # Machines
//
// A runtime on another machine may admit the requests of other gateways itself (Machine), for the host
// names that it is granted. A grant is a claim that lasts until the requests that were admitted by
// it have ended: holds and drains know no other case. A production host whose version changes opens
// when the machine of the version before has said that it admits none.
//
// # Engines
//
// The decisions about a request exist once (Gateway.take, Gateway.forward, request); an engine
// moves the bytes. There are two engines: GoEngine, which the next section
// describes, and Engine, which serves most requests with event loops. The tests
// have a third one, stdEngine, which is net/http. TestDifferential compares both
// engines with it.
//
// # Connections
//
// The engine go has its own HTTP/1.1, in package http1, because net/http hides
// two things that the gateway must do exactly: the gateway forwards paths, header
// lines, early responses and interim responses unchanged, and it detects
// immediately that a client has closed its connection and then closes the
// runtime's connection, which makes workerd cancel the worker. One goroutine
// serves a connection. A second goroutine, which reads what the client sends
// meanwhile, runs only for uploads, websockets and responses that take longer
// than some milliseconds.
//
// # Event loops
//
// A loop is one goroutine with an epoll of its own. It serves websockets, and requests that
// wait for nothing: it reads a request, claims the runtime, writes to it, and forwards the response
// when the event comes that the runtime has sent it. Buffers belong to the loop, so that an
// idle connection has none. All else is handed over to a goroutine of GoEngine, which gives
// the connection back after the response: before the request was sent (a hold, a start, an
// upload, a static file, a malformed head), or when the head of its response has arrived
// (compression, the page for an exception). Nothing on a loop may block:
// its log lines are written in the background. A panic ends one connection.
//
// # Ownership and failure
//
// Serve owns its listener and connections until Shutdown. All methods are safe
// for concurrent use. If a runtime fails, the response of that request is 502
// runtime_unavailable; other requests are not affected. A response that ends early
// closes its connection, so that a client cannot mistake it for a complete one.
package gateway

// Package gateway carries user traffic: it finds the version that a request's
// Host names, claims its runtime, and copies the request to it and the answer
// back over a unix socket. spec: [C6.1] to [C6.10], [D3] [D4] [D20] [D44] [D45].
//
// # Routing
//
// What is routed lives in an immutable table behind an atomic pointer. Every
// change (SetVersion, RemoveVersion, SetProduction) builds a new table; a
// request reads one without a lock. The table is a projection of the registry:
// nothing here is saved, the daemon fills it at start.
//
// # Claim before use
//
// A request claims a runtime before it touches it and releases it when it is
// done. A retired runtime refuses claims, so nothing can begin on it any more
// while what runs is waited for. The production host has claims of its own
// (see gate): Hold makes new requests wait, DrainProduction waits for those
// that were claimed before the hold, Release lets the waiting ones go on.
//
// # Engines
//
// What is decided about a request exists once (Gateway.forward, request); an
// engine moves its bytes. There are two: goEngine, which the next section is
// about, and stdEngine, which is net/http. TestDifferential holds them to the
// same behavior.
//
// # Connections
//
// The gateway speaks HTTP/1.1 itself, through package http1, because the two
// things it must do exactly are what net/http hides: it forwards paths, header
// lines and early or interim answers as they are, and it notices at once that
// a client has hung up and closes the runtime's connection, which is what
// makes workerd cancel the worker. One goroutine serves a connection; a
// second one, which reads what the client sends meanwhile, is started only for
// uploads, websockets and answers that take longer than some milliseconds.
//
// # Ownership and failure
//
// Serve owns its listener and connections until Shutdown. All methods are safe
// for concurrent use. A failure of a runtime is that request's answer
// (502 runtime_unavailable) and never the gateway's: an answer that breaks off
// ends its connection, so that a client cannot take it for a whole one.
package gateway

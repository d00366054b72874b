// Package loop is the engine of the gateway that serves most requests with event loops. It needs Linux;
// elsewhere it is the engine of package conn.
//
// A loop is one goroutine with an epoll of its own. It serves websockets, and requests that
// wait for nothing: it reads a request, claims the runtime, writes to it, and forwards the response
// when the event comes that the runtime has sent it. Buffers belong to the loop, so that an
// idle connection has none. All else is handed over to a goroutine of package conn, which gives
// the connection back after the response: before the request was sent (a hold, a start, an
// upload, a static file, a malformed head), or when the head of its response has arrived
// (compression, the page for an exception). Nothing on a loop may block:
// its log lines are written in the background. A panic ends one connection.
package loop

// Package relay carries the requests of a gateway on another machine to the runtimes of this
// one. Conn is the gateway's end, Server the other one: beside the gateway of the daemon, which claims
// runtimes itself, or on the machine of a version, with package direct.
//
// # Admission
//
// A connection begins with a preface: an HTTP/1.1 request that asks for the protocol
// svc-relay and names the version and the secret of its runtime's start (svc.Endpoint.PortKey).
// Before each request on it, the gateway sends a frame that says for which host name the
// request is: production's, a preview name's or the version's own. The server asks Admit,
// which claims the runtime as a request of its own machine does, and answers either that the
// request is admitted, or that it is not, with the generation of the route table that says
// why. Nothing reaches a runtime before its request is admitted. So a gateway with an old
// table cannot have a request answered by a version that is no longer production, and a
// promote waits for the requests of all gateways by the same claims.
//
// # Frames
//
// A frame has a head of four bytes, a kind and a length, and at most maxFrame bytes. Data
// frames hold the HTTP/1.1 of a runtime's socket; the server does not read it. After
// a response the gateway ends the admission and keeps the connection for the next
// request.
//
// # Ownership and failure
//
// A Conn belongs to one exchange at a time; one goroutine may read while another one writes.
// If a connection ends, the server closes that to the runtime, which cancels the worker.
// ErrNotAdmitted means that the runtime has received no byte of the request.
package relay

// Package services is the kind "service": a binding through which a worker calls a worker, by
// fetch and by the methods of its entrypoints.
//
// The worker itself is a service of the same workerd. Another project's worker runs in
// another process: a relay (relay.js) in the caller's workerd stands for it, and connects,
// for each call, to a socket in the caller's run directory. The daemon listens there; it
// finds the version that the call is for and joins the connection with that one's
// workerd (package calls). The worker has neither the relay's privileges nor its sockets.
package services

// Package calls joins the calls of workers to workers of other projects (service bindings).
// In the run directory of each runtime whose worker has such bindings, the daemon listens
// on one socket for each target. A connection is one call: it is joined with the runtime of
// the version that the target is at that moment, and ends with it. Its bytes are workerd's
// protocol, which the package does not read.
//
// A worker calls what its manifest declares, and nothing else: the sockets are private to
// the directory, and their names say what they lead to.
//
// Ownership: the supervisor closes the listener of a runtime when the runtime has ended.
// Everything is safe for concurrent use.
package calls

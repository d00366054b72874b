// Package door lets events into a worker: a scheduled run, a batch of messages.
// workerd takes them from JavaScript of its own process only, so the door has a
// shim there, shim.js, and a unix socket to it.
//
// The shim is a service beside the worker. The worker has no binding to it, and
// the socket lies in the private run directory: neither a worker nor a visitor
// can reach it.
//
// Ownership: the caller composes Service and Socket into workerd's config, gives
// the Door every line of workerd's stdout, and stops workerd. Concurrency: a Door
// is safe for concurrent use; events run at the same time. Failure: Dispatch
// fails only when the worker did not see the event.
package door

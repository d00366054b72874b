// Package promote changes the production version of a project: by the saga of the
// contract's five steps, and by the assignment of the first ready version.
// spec: [C3.5] [C8.1] to [C8.13], [D19][D20][D21].
//
// After a success, a failure or a crash, the registry, the pointer object and the
// gateway have the same production version. The registry's compare-and-set
// decides; the gateway is set from the registry under the project's lock. Requests
// to the production host name are held during the cut-over and are released in all
// cases.
//
// The package runs the saga with lib/saga and has one lock per project from
// lib/keyed. Package registry implements the records, package gateway the routes;
// package daemon connects them.
//
// Promote runs its saga in a goroutine that the Service owns; Stop waits for it. A
// saga that can neither finish nor compensate, because the registry or the object
// store fails, is retried until it can. A Service is safe for concurrent use.
package promote

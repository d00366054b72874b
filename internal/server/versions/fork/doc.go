// Package fork manages the data of versions that do not serve: it creates a child's
// data at a cut of its parent's, archives the data of a version, and destroys the data
// of a destroyed or failed version.
//
// A fork has an id and is made once: an attempt that finds the manifest of an earlier
// one returns that fork, even if the parent has changed or is destroyed. Otherwise the
// parent's runtime makes a cut; while the runtime starts or stops, fork retries. A
// parent that is archived, or whose runtime does not start, is cut in the object
// store, after its cached data is shipped there. A fork ends within a quarter of the
// grace of garbage collection, so that no object that it names is collected during the
// fork.
//
// Package deploy calls Fork, package lifecycle Archive and Destroy; package supervisor
// runs the hosts that cut and ship, branch.Store keeps the records. A Service is safe
// for concurrent use, owns no goroutines and has no state in memory: every method is
// idempotent, also after a crash.
package fork

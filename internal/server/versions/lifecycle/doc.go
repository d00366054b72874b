// Package lifecycle archives, wakes, destroys, pins and unpins versions.
// spec: [C9.1] to [C9.11], [D17][D18][D22].
//
// The verbs of one version run one after another; a destroy ends a running wake or
// deploy. Each verb starts with a compare-and-set in the registry, and the rest is
// idempotent: after a crash a version is ready and serves, or is archived and has
// no process, or is a tombstone whose files Resume deletes. An interrupted wake
// leaves a version deploying with a ready_at; Resume or the next Wake continues it.
//
// Package registry implements the records, deploy the runtimes and routes, fork the
// data; package daemon connects them. The package imports lib/keyed for one lock
// and one wake per version and lib/service for its goroutines.
//
// A Service is safe for concurrent use and owns no files. A verb does not end with
// its caller; Stop waits for it.
package lifecycle

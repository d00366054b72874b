// Package lifecycle takes versions out of service and back: archive, wake,
// destroy, pin and unpin. spec: States and transitions; [D17][D18][D22].
//
// The verbs of one version run one after the other; a destroy ends a wake or a
// deploy that is under way. Each verb begins with the compare-and-set of the
// registry that decides it, and what follows may be repeated: a daemon that was
// killed in the middle leaves a version that is ready and serves, or one that
// is archived and has no process, or a tombstone whose files Resume removes. A
// wake that was cut off is a version left deploying with a ready_at; Resume, or
// the next Wake, goes on with it.
//
// A verb that has begun goes on when its caller leaves; Stop waits for it.
//
// A Service is safe for concurrent use. It owns no file: the data of versions
// that do not run is the Vault's, everything else belongs to package deploy.
package lifecycle

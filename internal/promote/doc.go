// Package promote points a project's production host at a version: the saga
// of the contract's five steps, and the assignment of a project's first ready
// version. spec: Promote saga; [D19][D20][D21].
//
// However it ends, and wherever the process dies, the outcome is one
// production version, in the registry, in the pointer object and in the
// gateway. The registry's compare-and-set decides; the gateway is set from what
// the registry says, under the project's lock, so that reports never cross.
// Requests to the production host are held while the saga cuts over and go on
// in every case.
//
// Promote starts its saga in a goroutine that the Service owns; Stop waits for
// those. A saga that can neither finish nor take itself back, because the
// registry or the store does not answer, is tried again until it can. A Service
// is safe for concurrent use.
package promote

// Package gc collects garbage in the object store and audits it, on demand and as
// janitors of the daemon (package janitor).
//
// A sweep of a project (branch.Store.Sweep) deletes objects that no version has
// needed for the grace. The registry decides: the data of a wanted version stays,
// whatever its record says; the data of a failed or destroyed version is marked as
// destroyed; a fork that the registry does not have and that was never opened pins
// nothing after the grace. A version that the registry does not have and that was
// opened stays, so that the loss of a registry does not delete its data.
//
// The audit shares no code of decisions with the sweep: it reads from the registry
// which versions are wanted, makes its own listing, and checks every manifest and
// every log against it by planning a restore. It checks twice before it reports a
// problem, and changes nothing.
//
// Package janitor and package httpapi call a Service; the package imports data/branch
// and data/objstore. A project that fails does not stop the others. The end of a
// context stops a sweep immediately; the next sweep completes it. A Service is safe
// for concurrent use and sweeps one project at a time.
package gc

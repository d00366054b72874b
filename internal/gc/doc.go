// Package gc keeps the object store to what versions need. Two things run by
// themselves, in one goroutine (Service.Run) and on demand:
//
// The sweep of every project, one after the other (branch.Store.Sweep): it
// deletes what nobody has needed for the grace. The registry has the last word:
// what it wants stays, whatever the store's records say; what failed or was
// destroyed is marked so; a fork that it does not know and that nobody opened
// pins nothing after the grace. A version that it does not know and that was
// opened stays: its data is not to be lost with a registry.
//
// The audit, which shares no judgement with the sweep: it asks the registry what
// is wanted, makes its own listing, and holds every manifest and every log
// against it, as one who restores would. It looks twice before it complains, and
// it changes nothing.
//
// A project that fails stops no other. The end of a context stops everything at
// once; a sweep that was cut off leaves nothing behind that the next one does not
// find. A Service is safe for concurrent use; however many ask, one project is
// swept at a time.
package gc

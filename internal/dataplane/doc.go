// Package dataplane is a version's data on its own machine: one directory, and
// in it one SQLite file for each store that its bindings name.
//
// Ownership: Volumes owns the files and all connections to them; nobody else
// may open them while it is open. Close it after the bindings that use it.
//
// Concurrency: any number of readers, each on a connection that cannot write;
// one writer at a time for each store. Every write passes the version's gate,
// so that Freeze gives one moment for all stores.
//
// Durability: write-ahead log, synchronous=FULL: a write that returned is on
// the disk, which is the only copy.
package dataplane

// Package dataplane is a version's data as its runtime host has it: SQLite
// stores whose truth is a log in object storage (package replica) and whose
// files on this machine are a cache (package cowvfs). The directory may vanish
// while no process has it open; what was acknowledged as durable is in the log.
//
// Ownership: Volumes owns the files and all connections to them, and, by a grant
// of branch.Store, the logs. Nobody else may open the files while it is open.
// Close it after the bindings that use it.
//
// Concurrency: any number of readers, each on a connection that cannot write;
// one writer at a time for each store. Every write passes the version's gate,
// so that a cut is one moment of all stores.
//
// Durability: write-ahead log; a write that returned is on this machine's disk,
// by a sync that commits share. The shipper of its store appends it to the log: within
// the window (async), or before the write returns and before any read that saw
// it does (sync). While the log takes nothing, writes are held and then refused,
// so that the window stays what it says.
//
// Blobs: bodies too large for rows are objects of their own, there before the row
// that names them. The shared store keeps which ones rows name, and the object
// store is told of those that none names any more (docs/design/blobs.md).
//
// Fencing: when the log belongs to somebody else, everything stops at once:
// every call fails, Config.Lost is told, and the next Open throws away what the
// log does not have.
package dataplane

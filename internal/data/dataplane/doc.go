// Package dataplane implements the data of a version for its worker host: SQLite
// databases whose authoritative copy is a log in the object store (package replica), and
// whose files on this machine are a cache (package cowvfs). The directory may vanish while
// no process has it open; everything acknowledged as durable is in the log. The worker host opens
// it, the daemon asks it for cuts, and the binding kinds use it as volume.Volumes.
//
// Ownership: Volumes owns the files and all connections to them and, by a grant of
// branch.Store, the logs. No other process may open the files while it is open. Close it
// after the bindings that use it.
//
// Concurrency: any number of readers, each on a connection that cannot write; one writer
// at a time for each database. Every write passes the version's gate, so that a cut is one
// position of all databases.
//
// Durability: write-ahead log. A write that returned is on this machine's disk, by a
// group commit. The shipper of its database appends it to the log: within the window
// (async), or before the write and any read that saw it return (sync). While the log
// accepts nothing, writes are held and then rejected, so that the window holds.
//
// Blobs: bodies too large for rows are objects, which exist before the row that names
// them. The shared database records which blobs rows name, and lists in the object store
// record which ones no row names any more (docs/design/blobs.md).
//
// Fencing: when another owner takes over the log, ownership is revoked immediately: every
// call fails, Config.Revoked is called, and the next Open deletes local transactions that
// the log does not have.
package dataplane

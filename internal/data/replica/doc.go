// Package replica is the log of one SQLite database in the object store: LTX files
// that hold, transaction by transaction, the pages that changed. The log is
// authoritative; a local database file is a cache of it. Names and contents are those
// of litestream, whose restore command reads the log of a root version.
//
//	ltx/0000  committed transactions, one file for each TXID, created once
//	ltx/0001… the same, merged; no merge crosses the transaction of a fork
//	ltx/0009  full images
//
// A child's log begins with files of its ancestors, named by its manifest
// (branch.DatabaseBase), which it only reads. Its own files continue after the fork.
//
// The log also fences writers. TXID N+1 is a slot: the writer that creates its object
// owns it, and every other Append gets ErrFenced, for good. Nothing here depends on
// clocks or leases.
//
// Integrity: an object of the wrong size, a truncated range, a page that does not
// decode, and a file with a wrong checksum are a *CorruptError with the key of the
// object. Restore, Source.Hydrate and Compact check the checksum of every file they
// read; Source.ReadPages reads parts of large files, which have no checksum, and checks
// names, sizes and the decoding.
//
// Replica deletes nothing. Compact returns the superseded files, and branch.Store.Sweep
// deletes them later. A Log is safe for concurrent use.
//
// Package dataplane appends to logs and opens databases from them; replica imports
// branch and objstore.
package replica

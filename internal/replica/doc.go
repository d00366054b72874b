// Package replica is the log of one SQLite store in object storage: LTX files
// that hold, transaction by transaction, the pages that changed. The log is the
// truth; a database file is a cache of it. The names are those of litestream,
// so its restore command reads the log of a root version.
//
//	ltx/0000  what was committed, one file for each TXID, created once
//	ltx/0001… the same, merged; no merge crosses the transaction of a fork
//	ltx/0009  full images
//
// A child's log begins with files of its ancestors, named by its manifest
// (branch.StoreBase) and only read. Its own files continue after the fork.
//
// The log is also the fence. TXID N+1 is a slot: whoever creates its object owns
// it, and the other one's Append is ErrFenced, for good. Nothing here depends on
// clocks or leases.
//
// Integrity: an object of the wrong size, a range that came short, a page that
// does not decode to one page, and a file whose checksum is wrong are a
// *CorruptError with the name of the object. Restore, Source.Hydrate and Compact
// check the checksum of every file they read; Source.ReadPages reads parts of
// large files, which have none, and checks names, sizes and the decoding.
//
// Nothing is deleted here. Compact returns what it superseded, and
// branch.Store.Sweep deletes it later. A Log is safe for concurrent use.
package replica

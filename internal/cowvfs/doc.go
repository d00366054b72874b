// Package cowvfs is a VFS for SQLite, between the engine and the operating
// system's own, that gives the files attached to it two things: their changes
// are captured as LTX segments, and their pages may still be elsewhere. It is
// Go on top of the pure-Go build of the engine; connections reach it by opening
// a file through the VFS called [Name]. ADR 0005 has the why and the figures.
//
// # Capture
//
// The WAL of the file is the log. The VFS sees each frame's header pass, so it
// knows which page is in which frame, and looks at the wal-index whenever a
// writer gives the write lock back, so it knows what is committed: a commit
// whose fsync failed leaves valid frames that the engine never acknowledged.
// [File.Take] makes one LTX file of all that was committed since the last: the
// newest version of each page, and the size of the database. The first segment
// of all is a snapshot. Between commits nothing runs; a commit calls
// [Capture.Notify].
//
// One rule carries the rest: the WAL is not overwritten, truncated or deleted
// before all it holds is staged. Before the engine does so the VFS stages what
// is left, on the goroutine that is about to write, and if that fails the write
// fails (SQLITE_IOERR) and the WAL stays. Who checkpoints, and when, is
// therefore free: the engine's own auto-checkpoint bounds the WAL.
//
// A segment is a file in Path-ltx from the moment it has a TXID, so that a retry
// after a crash ships the same bytes. Its header has the place in the WAL where
// it ends; the newest of all segments, shipped or not, is where the next process
// goes on. Nothing there is fsynced: it outlives the process, like a commit with
// synchronous=NORMAL, not the machine. After a power failure local files must
// not be trusted; they are a cache of the store.
//
// PRAGMAs by which a commit would not go through the WAL and its index
// (journal_mode, locking_mode=exclusive) are refused, and so is any write to
// the database file that is not a checkpoint, once there is a first segment.
//
// # Missing pages
//
// A file attached with a [Source] begins sparse. A page that is read and is not
// here is read from the Source with those that follow it; [File.Hydrate] brings
// the rest in the background and lets queries go first. A failing Source is
// SQLITE_IOERR_READ for the query, which may try again. Path-pages has a bit for
// each page that is here; it is saved after the data, before the WAL can lose
// the newer version. Pages that are cut off count as here, or they would come
// back. When all are here the map is removed and the file is a plain one: open
// connections go over to the engine's own method for reading at their next read.
//
// # Rules for callers
//
// Attach before anything opens the file, close all connections before Detach.
// One process only. No other descriptor of the file may be closed in that
// process, as that drops the engine's POSIX locks. Never checkpoint or open the
// file through another VFS while it is attached.
package cowvfs

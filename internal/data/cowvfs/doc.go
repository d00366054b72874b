// Package cowvfs is a VFS for SQLite, between the engine and the operating system's own
// VFS. It captures the changes of the files attached to it as LTX segments, and lets
// pages of them be elsewhere until they are read. It is written in Go over the pure-Go build of
// the engine; connections use it by opening a file through the VFS called [Name]. ADR 0005
// has the reasons and the figures. Package dataplane is its user.
//
// # Capture
//
// The WAL of the file is the log. The VFS sees each frame's header, so it knows which
// page is in which frame, and reads the wal-index whenever a writer releases the write
// lock, so it knows what is committed: a commit whose fsync failed leaves valid frames
// that the engine never acknowledged. [File.Next] makes one LTX file of everything that
// was committed since the last one: the newest version of each page, and the size of the
// database. The very first segment is a snapshot. Between commits nothing runs; a commit
// calls [Capture.Notify].
//
// One rule is essential: the WAL is not overwritten, truncated or deleted before
// everything in it is staged. Before the engine does so, the VFS stages the rest, on the
// writer's goroutine; if that fails the write fails (SQLITE_IOERR) and the WAL stays.
// Checkpoints are therefore free: the engine's own auto-checkpoint bounds the WAL.
//
// A segment is a file in Path-ltx from the moment it has a TXID, so that a retry after a
// crash ships the same bytes. Its header has the position in the WAL where it ends; the
// next process continues from the newest of all segments, shipped or not. Segments are
// not fsynced: like a commit with synchronous=NORMAL they survive the process, not the
// machine. After a power failure local files must not be trusted; they are a cache of the
// object store.
//
// The VFS rejects PRAGMAs by which a commit would bypass the WAL and its index
// (journal_mode, locking_mode=exclusive), and after the first segment every write to the
// database file that is not a checkpoint.
//
// # Missing pages
//
// A file attached with a [Source] begins sparse. A missing page is read from the Source
// when the engine reads it, with the pages that follow it; [File.Hydrate] reads the others
// in the background and lets queries go first. A failing Source is SQLITE_IOERR_READ for
// the query, which can be retried. Path-pages has a bit for each page that is present; it
// is saved after the data, before the WAL can lose the newer version. Pages that are cut
// off count as present, so that they are not read again. When all pages are present the
// map is deleted and the file is a plain one: open connections switch to the engine's own
// read method at their next read.
//
// # Rules for callers
//
// Attach before any connection opens the file, and close all connections before Detach.
// One process only. No other descriptor of the file may be closed in that process, as that
// releases the engine's POSIX locks. Never checkpoint or open the file through another VFS
// while it is attached.
package cowvfs

// Package sqlite opens SQLite files the way this program uses them, and is,
// with the packages that own a database file, the only one that knows the
// driver.
//
// A [DB] is one file in WAL mode with one writer connection and a pool of
// readers. Writes go through [DB.InTx], which begins IMMEDIATE: a transaction
// that starts has the write lock and cannot fail later by being outrun. Reads
// go through [DB.InReadTx] or [DB.Read] and see the last commit without
// waiting for the writer. Calling InTx inside InTx on one DB deadlocks.
//
// [Schema.Migrate] brings a file to the newest of a set of embedded,
// forward-only migrations. The version is the file's own PRAGMA user_version,
// so copies of a file carry it and no table of ours is needed.
//
// A DB is safe for concurrent use. The file is created readable by its owner
// only.
package sqlite

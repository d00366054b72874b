// Package sqlite opens the daemon's SQLite file, the registry, through database/sql.
// The databases of versions use package raw instead.
//
// A [DB] is one file in WAL mode with one writer connection and a pool of readers.
// Writes go through [DB.InTx], which begins IMMEDIATE: a transaction that starts has
// the write lock and cannot fail later because of another writer. Reads go through
// [DB.InReadTx] or [DB.Read] and see the last commit without waiting for the writer.
// Calling InTx inside InTx on one DB deadlocks.
//
// [Schema.Migrate] brings a file to the newest of a set of embedded, forward-only
// migrations, and copies the file before. The version is the file's own PRAGMA user_version, so copies of a file
// have it and no extra table is needed.
//
// A DB is safe for concurrent use. Only the owner of the file can read it.
package sqlite

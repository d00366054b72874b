// Package database is the binding kind "database": SQLite databases on the
// protocol that workerd's D1 binding speaks over HTTP. What a worker sees
// (values, meta, the words of errors, what a statement may do) follows the D1
// worker inside workerd; the limits are those of D1.
//
// Ownership: each one is a database (a SQLite file) of the version, and its only user.
//
// Transactions: a request is one, whatever the number of its statements; any
// failure leaves nothing of it. Reads run side by side and see the last write
// that was answered; writes run one after another.
//
// Imports: seeds and POST …/database/import bring in a script or
// a SQLite file, as one transaction under the same policy. A script is read as it
// is run, rows of a file go from one connection to the other: neither is in
// memory as a whole.
//
// Differences from D1, all small, are listed in docs/guide/bindings.md: counts
// of rows, settings made by a PRAGMA, which last for one request, and what
// D1's engine is built with and this one is not. DELETE and UPDATE with LIMIT,
// which is of that sort, are rewritten.
package database

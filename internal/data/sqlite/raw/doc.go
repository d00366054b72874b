// Package raw is one SQLite connection with the engine's own interface, over the
// pure-Go build of SQLite. It is for code that database/sql does not serve: code that
// needs the stored types and bytes of columns, the parameters of a statement, the
// position of an error in a text, an authorizer, interruption and prepared statements.
// Package dataplane and the binding kinds use it; it imports nothing of this module.
//
// Ownership: a Conn owns its statements; Close finalizes them. Returned bytes and
// strings are copies.
//
// Concurrency: a Conn and its statements belong to one goroutine at a time. Interrupt
// alone is safe from any goroutine.
//
// Failure: errors of the engine are *Error, with the extended code.
package raw

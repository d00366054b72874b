// Package raw is one SQLite connection as the engine's own interface gives it,
// over the pure-Go build of SQLite. It is for the paths where database/sql is
// in the way: the program must see column types and text as they are stored,
// count a statement's parameters, know where in a text an error is, decide what
// a statement may do, stop one that runs too long, and keep prepared statements.
//
// Ownership: a Conn owns its statements; Close finalizes them. Bytes and
// strings returned are copies.
//
// Concurrency: a Conn and its statements belong to one goroutine at a time.
// Interrupt alone may be called from any goroutine.
//
// Failure: errors of the engine are *Error, with the extended code.
package raw

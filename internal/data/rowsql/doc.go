// Package rowsql turns rows that package rowdiff returns into named columns and into SQL
// statements that repeat the change in another copy of the database.
//
// SQLite itself says which columns a table has and in which order a row has them: the
// CREATE TABLE statement runs in an empty database in memory. No other SQL of the user runs.
//
// A row is identified by its primary key, or by its rowid in a table without one. An
// UPDATE sets the columns that changed and no others. A State is a row that is compared: it has the
// defaults of columns that were added after it was written. Guarded statements change nothing where
// the row no longer has the values of the first state. Tables is not safe for concurrent use.
package rowsql

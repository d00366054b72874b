// Package rowdiff counts, by table, the rows that differ between two states of one
// SQLite database, which it reads as pages, and returns their values. It runs no SQL and
// opens no file.
//
// The cost grows with the change: Compare reads the schema, the interior pages of the
// tables (well under 1 % of a table with a rowid) and the pages that differ. It never
// reads the pages of indexes that did not change, nor leaf pages that both states share.
// The exception is a change in the middle of a row that spans several pages, which the
// row's leaf page does not show: then Compare looks for the row among all rows of that
// size.
//
// A row is identified by its rowid, or by its primary key in a table WITHOUT ROWID.
// VACUUM and other moves of pages change no row: Compare then reads everything and counts
// what really differs. A renamed table counts as a deleted and a new one.
//
// Limits bound pages and time. Past a limit the counts are lower bounds and say so
// (AtLeast). A page that is no page of a B-tree where one must be is ErrCorrupt. Compare
// is safe for concurrent use as far as the images are; it starts no goroutines.
//
// The rows come table by table, in the order of their rowids or else of their keys, but
// rows that changed in the middle of several pages come last. Their values are those of
// the file: package rowsql knows the names of the columns.
//
// Package divergence of the server compares versions with rowdiff; replica.Source is an
// Image. rowdiff imports the standard library alone.
package rowdiff

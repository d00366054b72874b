// Package ring keeps the newest records of an endless stream in a few files.
//
// A record is one JSON object on one line. The Writer numbers the records from 1 without
// gaps and puts the number first in the object: {"n":17,…}. A file ("segment") is named
// after its first record: NAME-00000000000000000017.jsonl. When a segment is full the next
// one begins, and the oldest ones are deleted. The number survives restarts, so it is a
// cursor: a Reader that begins after record 17 finds its file by name.
//
// One process writes a ring; any number of processes read it at the same time. Nothing is
// synced: after a power failure the last records may be missing or cut, which costs these
// records and no others.
package ring

// Package durable keeps the storage of Durable Objects in the data of their version.
//
// workerd stores each object in a SQLite file of its own on the local disk and answers after
// the file was synced. A Keeper follows these files from outside (follower): it reads the
// committed frames of their write-ahead logs, without a SQLite connection and without a lock
// that workerd could notice. The changed pages become rows of one database of the version,
// so that replication, branching, archiving and garbage collection treat objects as any
// other data. When the files are missing, as in a child or after a wake, they are made from
// the rows before workerd starts.
//
// What is promised: an acknowledged write is on the local disk. It is in the object store
// after the window of replication. A machine that is lost takes at most that with it, and
// each object comes back as it was after one of its own commits. A branch is one moment of
// all objects: workerd is stopped for some milliseconds. Alarms belong to the version that
// set them: a child inherits none, but for one that a release made. That one continues the alarms
// of its parent, which does not run them again unless it becomes production again.
//
// Ownership: the worker host opens one Keeper for its version, calls Follow when workerd
// serves, and closes it after workerd is gone and before the data is closed. Concurrency:
// all methods may be called at any time. Failures: a file that cannot be read is reported in
// the log and tried again; Close and Cut return what they could not store.
package durable

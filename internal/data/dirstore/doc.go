// Package dirstore implements objstore.Bucket in a directory, for the small records
// of versions when BRANCH_STORE names one. An object is a plain file whose path is
// its key; its ETag is the hash of its content, so reading or listing an object reads
// all of it. The daemon and hosts open it; it imports objstore alone.
//
// Concurrency: any number of processes of one machine may open the same directory,
// which must be on a local filesystem. Changes happen one at a time under a flock,
// reads without one: an object is replaced as a whole, never written in place.
//
// Durability: file and directories are fsynced before Put or Delete returns nil. An
// ErrPrecondition reports an existing object, which is made durable first.
//
// Keys are slash-separated paths without empty and dotted parts. Since they are
// files, a and a/b cannot both exist. The folder .dirstore holds the lock and
// unfinished objects; no key begins with it.
package dirstore

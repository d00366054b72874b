// Package objects is the binding kind "object_store": buckets of objects, on the
// protocol that workerd's R2 binding speaks. What a worker sees (answers, limits,
// codes and words of errors) follows R2, as the simulator of Cloudflare's own
// tools has it.
//
// Ownership: all buckets of a version are tables of its shared database, told apart
// by a number. A body of up to inlineBody bytes is in the row: it is then as
// durable as the row is, costs no request of its own to the object store, and
// leaves nothing to collect. A larger one is a blob (volume.Blobs), or one for each part of a
// multipart upload: it is in the object store before the row that names it is
// committed, so no durable row names a body that is not there. What a crash
// leaves in between is a blob without a row, which the version's owner collects.
//
// Memory: bodies pass through in pieces. Before one is stored it has been read to
// its end, so that a wrong length or checksum stores nothing.
//
// Concurrency: reads run side by side, writes to rows one after another; uploads
// do not wait for each other.
package objects

// Package objstore defines object storage as this program uses it: whole objects
// put under conditions, read by range, listed by prefix. It has the helpers that
// callers of a Bucket share (Settle, Read, Each, Probe). Packages s3, dirstore and memstore
// implement Bucket, a plug-in point; every implementation passes the suite in
// objstoretest.
//
// Ownership: the caller of Get closes the reader. Concurrency: a Bucket is safe
// for concurrent use. Durability: after Put returned nil the object is as durable
// as the object store guarantees.
package objstore

// Package memstore is object storage in memory: of a backup that is read from one file,
// and of tests. It stands beside dirstore and s3 and implements objstore.Bucket.
//
// Concurrency: a Bucket is safe for concurrent use. Durability: none.
package memstore

// Package s3fault is a bad way to a good store: an HTTP proxy in front of an S3
// endpoint that fails as a test or a benchmark tells it to, adds latency, and
// counts requests and bytes. It works below the S3 client, on requests that are
// signed and on connections that break, which objstoretest.Faulty cannot.
//
// The Host header and the bytes of the path go on unchanged, so signatures stay
// valid. Faults are met by chance (Set), with a seed, or one after another (Next).
//
// A Proxy owns its listener and its connections, until Close. It is safe for
// concurrent use. It links no test code, so programs that measure may use it.
package s3fault

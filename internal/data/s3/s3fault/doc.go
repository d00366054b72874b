// Package s3fault is an HTTP proxy in front of an S3 endpoint that injects faults and
// latency for tests and benchmarks, and counts requests and bytes. It works below the
// S3 client, on signed requests and broken connections, which objstoretest.Faulty
// cannot.
//
// The Host header and the bytes of the path are forwarded unchanged, so signatures
// stay valid. Faults are random (Set), with a seed, or in a given order (Next).
//
// A Proxy owns its listener and its connections, until Close. It is safe for
// concurrent use. It imports no package of this module and no testing code, so
// programs that measure may use it.
package s3fault

// Package objstoretest has the contract of objstore.Bucket as a test suite, for the
// tests of every implementation, and Faulty, a bucket that injects faults.
package objstoretest

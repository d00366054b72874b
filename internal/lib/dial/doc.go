// Package dial opens TCP connections to machines that may be lost: several attempts at the same time,
// and connections that end soon after the other machine has stopped to answer.
//
// Concurrency: everything is safe for concurrent use.
package dial

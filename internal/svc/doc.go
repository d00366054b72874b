// Package svc defines the types that cross packages: projects, versions, their
// statuses and the transitions between them, host names and URLs, environment
// rules, the specification of a runtime, events, and the error type with its
// codes. It imports only the standard library and does no I/O; every other
// package may import it.
//
// Values are plain data without locks or handles and may be copied. Nothing here
// is safe for concurrent writes; [Ingress] is immutable and safe for concurrent
// use. Functions that can fail return an [*Error].
package svc

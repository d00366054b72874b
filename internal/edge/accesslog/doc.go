// Package accesslog writes a line for each request of the gateway to a file, as JSON or in
// the combined format of Apache and nginx, for the tools that read those. Requests never
// wait for the disk: while it is too slow, lines are dropped and counted.
//
// A [Log] is safe for concurrent use.
package accesslog

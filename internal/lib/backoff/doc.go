// Package backoff waits between the attempts of an operation.
//
// Each wing uses it in place of timers of its own.
package backoff

// Package backoff waits between the attempts of an operation: a Backoff gives waits that double, and
// Sleep waits once.
//
// Each wing uses it in place of timers and doubling loops of its own.
package backoff

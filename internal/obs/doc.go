// Package obs is how the program is seen from outside: what build it is, its
// log, and its metrics [D31]. It knows no other package of the program: those
// that have something to tell declare a small interface, and a root hands them
// a *Metrics.
//
// Concurrency: everything here is safe for concurrent use.
package obs

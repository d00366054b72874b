// Package duration reads durations as people write them, in settings, flags and requests. It
// imports no other package of the program.
package duration

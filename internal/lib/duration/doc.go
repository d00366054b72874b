// Package duration reads durations as people write them, with days, in settings, flags and requests. It
// imports no other package of the program.
package duration

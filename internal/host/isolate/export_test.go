//go:build linux

package isolate

// Taken is taken.
var Taken = taken

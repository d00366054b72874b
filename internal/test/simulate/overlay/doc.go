// Package overlay writes a build overlay for the installed version of Go, with which the
// simulator of internal/test/simulate is built. Inside of a synctest bubble the changed runtime is
// deterministic: the same seed gives the same order of goroutines, of map keys and of select cases.
// No other program is built with it.
package overlay

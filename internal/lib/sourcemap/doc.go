// Package sourcemap finds the place in a source file that a place in a built file
// comes from, with the source maps (version 3) that bundlers write.
//
// Package build looks for the places of errors, package logs for those of exceptions.
package sourcemap

// Package missing is the binding kind "missing": an object in the place of a binding that
// the program does not run, for a worker that was deployed with --allow-missing. Every use
// of it throws an error that names the binding and the key of the project file.
package missing

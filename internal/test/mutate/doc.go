// Package main plants one fault at a time in the data wing and reports whether its check finds it: seeds
// of the simulator or a test. A fault that is not found fails the run: make mutate.
//
// No file of the repository changes: the faults are built with an overlay.
package main

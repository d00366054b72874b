// Package main builds the simulator with its overlay and runs seeds, one process for each core, or
// replays or shrinks one seed: make simulate.
package main

//go:build e2e && race

package e2e

// The binary under test is built the way the tests are.
var raceFlags = []string{"-race", "-gcflags=all=-dwarf=false", "-gcflags=modernc.org/sqlite/lib=-race=false -dwarf=false"}

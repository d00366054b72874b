//go:build e2e && race

package e2e

// The binary under test is built the way the tests are.
var raceFlags = []string{"-race", "-gcflags=modernc.org/sqlite/lib=-race=false"}

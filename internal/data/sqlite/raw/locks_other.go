//go:build !linux || !(amd64 || arm64)

package raw

// quickLocks does nothing: only Linux has quick locks.
func quickLocks(string) {}

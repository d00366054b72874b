//go:build !linux

package dial

import (
	"syscall"
	"time"
)

// endStuck does nothing: the system's own limit, some minutes, ends a connection.
func endStuck(_, _ string, _ syscall.RawConn) error { return nil }

// isSilent knows nothing.
func isSilent(c syscall.RawConn, _ time.Duration) (bool, error) {
	return false, c.Control(func(uintptr) {})
}

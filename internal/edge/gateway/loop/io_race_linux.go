//go:build race

package loop

import (
	"errors"
	"syscall"
)

// The race detector learns from these calls of package syscall what happens before what.

func readSocket(fd int, b []byte) (int, syscall.Errno) { return plain(syscall.Read(fd, b)) }

func writeSocket(fd int, b []byte) (int, syscall.Errno) { return plain(syscall.Write(fd, b)) }

func plain(n int, err error) (int, syscall.Errno) {
	var e syscall.Errno
	errors.As(err, &e)
	return n, e
}

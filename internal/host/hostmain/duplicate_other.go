//go:build !linux

package hostmain

import (
	"os"

	"golang.org/x/sys/unix"
)

// duplicate makes the descriptor of to one of f.
func duplicate(f, to *os.File) error {
	return os.NewSyscallError("dup2", unix.Dup2(int(f.Fd()), int(to.Fd())))
}

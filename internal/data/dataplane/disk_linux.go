package dataplane

import (
	"errors"
	"os"
	"syscall"
)

// syncFile syncs the content and the length of f to disk.
func syncFile(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

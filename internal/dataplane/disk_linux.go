package dataplane

import (
	"errors"
	"os"
	"syscall"
)

// syncFile brings the content of f to the disk, and its length.
func syncFile(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

//go:build !linux

package durable

import (
	"io"
	"os"
	"syscall"
)

// lockIndex takes or gives back a shared lock on WAL_READ_LOCK(4) of a wal-index. While it is
// held the writer does not begin the log again; its checkpoints and its end are not affected.
func lockIndex(shm *os.File, hold bool) bool {
	const readLock4 = 127 // its byte in the file
	l := syscall.Flock_t{Type: syscall.F_UNLCK, Whence: io.SeekStart, Start: readLock4, Len: 1}
	if hold {
		l.Type = syscall.F_RDLCK
	}
	return syscall.FcntlFlock(shm.Fd(), syscall.F_SETLK, &l) == nil
}

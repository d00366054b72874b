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
	kind := int16(syscall.F_UNLCK)
	if hold {
		kind = syscall.F_RDLCK
	}
	return lock(shm, readLock4, kind)
}

// lockWrites takes WAL_WRITE_LOCK of a wal-index, which is open for writing, until a file of the
// index is closed. The writer has no patience for that lock: its next write fails, its reads do not.
func lockWrites(shm *os.File) bool { return lock(shm, writeLock, syscall.F_WRLCK) }

// lock never waits.
func lock(f *os.File, at int64, kind int16) bool {
	l := syscall.Flock_t{Type: kind, Whence: io.SeekStart, Start: at, Len: 1}
	return syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &l) == nil
}

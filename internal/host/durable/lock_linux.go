package durable

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// lockIndex takes or gives back a shared lock on WAL_READ_LOCK(4) of a wal-index. While it is
// held the writer does not begin the log again; its checkpoints and its end are not affected.
// The mark of that lock stays unused, so no writer waits for it.
func lockIndex(shm *os.File, hold bool) bool {
	kind := int16(unix.F_UNLCK)
	if hold {
		kind = unix.F_RDLCK
	}
	return lock(shm, readLock4, kind)
}

// lockWrites takes WAL_WRITE_LOCK of a wal-index, which is open for writing, until the file is
// closed. The writer has no patience for that lock: its next write fails, its reads do not. It is
// not taken while a transaction writes.
func lockWrites(shm *os.File) bool { return lock(shm, writeLock, unix.F_WRLCK) }

// lock never waits.
func lock(f *os.File, at int64, kind int16) bool {
	l := unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: at, Len: 1}
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &l) == nil
}

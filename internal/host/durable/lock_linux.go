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
	const readLock4 = 127 // its byte in the file
	l := unix.Flock_t{Type: unix.F_UNLCK, Whence: io.SeekStart, Start: readLock4, Len: 1}
	if hold {
		l.Type = unix.F_RDLCK
	}
	return unix.FcntlFlock(shm.Fd(), unix.F_OFD_SETLK, &l) == nil
}

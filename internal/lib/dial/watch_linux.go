package dial

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endStuck has a connection end whose other end takes no byte for stuckAfter.
func endStuck(_, _ string, c syscall.RawConn) error {
	var set error
	err := c.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(stuckAfter.Milliseconds()))
	})
	return errors.Join(err, set)
}

// isSilent reports whether the other machine has confirmed nothing for the time lost although
// something is under way to it. While the receiver's window is closed, nothing is.
func isSilent(c syscall.RawConn, lost time.Duration) (silent bool, err error) {
	var failed error
	err = c.Control(func(fd uintptr) {
		var info *unix.TCPInfo
		if info, failed = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); failed == nil {
			silent = info.Unacked > 0 && time.Duration(info.Last_ack_recv)*time.Millisecond > lost
		}
	})
	return silent, errors.Join(err, failed)
}

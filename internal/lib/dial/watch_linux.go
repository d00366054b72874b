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

// unanswered is how many probes in a row have no answer when a machine is silent: one of a closed window
// may have been sent a moment ago.
const unanswered = 2

// isSilent reports whether nothing has come from the other machine for the time lost, although it was sent something
// or probed. While the receiver's window is closed, its machine answers probes. With TCP_USER_TIMEOUT
// unanswered probes alone end no connection before stuckAfter.
func isSilent(c syscall.RawConn, lost time.Duration) (silent bool, err error) {
	var failed error
	err = c.Control(func(fd uintptr) {
		var info *unix.TCPInfo
		if info, failed = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); failed == nil {
			since := min(info.Last_ack_recv, info.Last_data_recv) // data may confirm nothing new
			silent = (info.Unacked > 0 || info.Probes >= unanswered) && time.Duration(since)*time.Millisecond > lost
		}
	})
	return silent, errors.Join(err, failed)
}

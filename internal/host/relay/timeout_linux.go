package relay

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithoutAnswer has a connection end whose machine does not confirm what was sent to it.
func endWithoutAnswer(_, _ string, c syscall.RawConn) error {
	var set error
	err := c.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(lostAfter.Milliseconds()))
	})
	return errors.Join(err, set)
}

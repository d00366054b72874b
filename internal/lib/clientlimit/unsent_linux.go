package clientlimit

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Unsent returns the number of written bytes that the peer has not acknowledged, -1 if
// it is unknown.
func Unsent(conn net.Conn) int {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return -1
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return -1
	}
	n := -1
	err = raw.Control(func(fd uintptr) {
		if left, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); err == nil {
			n = left
		}
	})
	if err != nil {
		return -1
	}
	return n
}

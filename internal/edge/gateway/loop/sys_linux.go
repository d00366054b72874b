package loop

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The events of the sockets of a loop are edge-triggered: each is reported once, and a
// descriptor is registered once. A unix socket reports that it is writable each time its
// peer reads, so runtimes are registered for that only while bytes wait for them.
const (
	clientEvents  = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET
	runtimeEvents = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET
)

// epollStay waits for events up to a few milliseconds without a word to the scheduler. It
// returns -1 when a signal interrupts it: the runtime of Go signals a thread that must yield.
func epollStay(ep int, events []unix.EpollEvent, ms int) int {
	n, _, e := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(ep), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(ms), 0, 0) //nolint:gosec // G103: the kernel fills events during the call
	if e == unix.EINTR {
		return -1
	}
	if e != 0 {
		return 0
	}
	return int(n)
}

// recv reads what has arrived. At the end of the input n is 0 and err is nil.
func recv(fd int, b []byte) (n int, err error) {
	for {
		n, e := readSocket(fd, b)
		if e == 0 {
			return n, nil
		}
		if e != unix.EINTR {
			return 0, e
		}
	}
}

// send writes what the buffer of a socket takes: n is less than len(b) if it is full.
func send(fd int, b []byte) (n int, err error) {
	for {
		n, e := writeSocket(fd, b)
		if e == 0 {
			return n, nil
		}
		if e == unix.EAGAIN {
			return 0, nil
		}
		if e != unix.EINTR {
			return 0, e
		}
	}
}

// connectUnix connects to a unix socket. It does not wait: EAGAIN reports that the accept
// queue is full.
func connectUnix(path string) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("connect to the runtime: %w", err)
	}
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		_ = unix.Close(fd)
		return -1, fmt.Errorf("connect to the runtime: %w", err)
	}
	return fd, nil
}

// dupOf returns a copy of a descriptor, which the caller closes.
func dupOf(c syscall.Conn) (fd int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	cerr := raw.Control(func(own uintptr) { fd, err = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0) })
	return fd, errors.Join(cerr, err)
}

// netConn makes a connection of package net of a descriptor, which it closes.
func netConn(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "")
	defer f.Close()
	return net.FileConn(f) // it has its own descriptor
}

// dropUnsent makes the close of a connection a reset, which drops what is not sent.
func dropUnsent(fd int) {
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}

// sharedFD is a descriptor that the last one of its users closes.
type sharedFD struct {
	fd    int
	users atomic.Int32
}

func (s *sharedFD) release() {
	if s.users.Add(-1) == 0 {
		_ = unix.Close(s.fd)
	}
}

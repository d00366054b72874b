package control

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// FD is the descriptor of the line in a host.
const FD = 3

// Pair makes a line: the daemon's end, and the host's as a file to inherit.
// The caller closes the file once the host has started.
func Pair() (net.Conn, *os.File, error) {
	fds, err := socketpair()
	if err != nil {
		return nil, nil, fmt.Errorf("making the control line: %w", os.NewSyscallError("socketpair", err))
	}
	here, there := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control-host")
	conn, err := fileConn(here)
	if err != nil {
		_ = there.Close()
		return nil, nil, err
	}
	return conn, there, nil
}

// Inherited is the line that a host got as FD. Children of the host do not.
func Inherited() (net.Conn, error) { return fileConn(os.NewFile(FD, "control")) }

// fileConn takes f.
func fileConn(f *os.File) (net.Conn, error) {
	conn, err := net.FileConn(f)
	if closeErr := f.Close(); err == nil && closeErr != nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("opening the control line: %w", err)
	}
	return conn, nil
}

// socketpair keeps the descriptors out of processes that are being started.
func socketpair() ([2]int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return fds, err
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	return fds, nil
}

//go:build !race

package loop

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readSocket and writeSocket do not tell the scheduler of Go about the call, because it does
// not block: that would cost a tenth of the processor time of a request. They return n < 0
// and an error, as the kernel reports it.

func readSocket(fd int, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0) //nolint:gosec // G103: the kernel fills b during the call
	return int(n), e
}

func writeSocket(fd int, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0) //nolint:gosec // G103: the kernel reads b during the call
	return int(n), e
}

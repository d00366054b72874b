package confine

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// connect makes the connection that a program waits for, with the program's own socket and an
// address that is read once: a filter cannot read an address, and if the kernel were told to
// continue, the program could change it after it was checked. It returns the error of the call.
func (c *call) connect(p *program, may func(path string) bool) unix.Errno {
	var address [unix.SizeofSockaddrAny]byte
	size := int(min(c.args[2], uint64(len(address))))
	if size < 2 || !p.read(address[:size], uintptr(c.args[1])) {
		return unix.EFAULT
	}
	if !allowed(address[:size], may) {
		return unix.EPERM
	}
	fd, err := unix.PidfdGetfd(p.pidfd, int(int32(c.args[0])), 0) //nolint:gosec // a descriptor
	if err != nil {
		return unix.EBADF
	}
	defer unix.Close(fd)
	_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&address)), uintptr(size)) //nolint:gosec // the kernel reads address during the call
	return errno
}

// allowed reports whether a program may connect to an address.
func allowed(address []byte, may func(path string) bool) bool {
	switch binary.NativeEndian.Uint16(address) {
	case unix.AF_INET, unix.AF_INET6, unix.AF_UNSPEC:
		return true
	case unix.AF_UNIX:
		name := address[2:]
		if len(name) > 0 && name[0] == 0 {
			return may("@" + string(name[1:]))
		}
		name, _, _ = bytes.Cut(name, []byte{0})
		return may(string(name))
	}
	return false
}

// program is the process whose calls are reported. Its threads share memory and descriptors. A child
// of it has others: what is read for a child is its parent's, which may be refused, or connects a
// socket of the parent to what the parent may connect to.
type program struct {
	pid, pidfd int
	users      atomic.Int32
}

// openProgram fails where this process may not use the descriptors of its child.
func openProgram(pid int) (*program, error) {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, err
	}
	fd, err := unix.PidfdGetfd(pidfd, 0, 0) // its standard input
	if err != nil {
		_ = unix.Close(pidfd)
		return nil, err
	}
	_ = unix.Close(fd)
	p := &program{pid: pid, pidfd: pidfd}
	p.hold()
	return p, nil
}

func (p *program) hold() { p.users.Add(1) }

func (p *program) release() {
	if p.users.Add(-1) == 0 {
		_ = unix.Close(p.pidfd)
	}
}

// read reads memory of the program. ok is false if it cannot be read.
func (p *program) read(to []byte, from uintptr) (ok bool) {
	local := []unix.Iovec{{Base: &to[0]}}
	local[0].SetLen(len(to))
	n, err := unix.ProcessVMReadv(p.pid, local, []unix.RemoteIovec{{Base: from, Len: len(to)}}, 0)
	return err == nil && n == len(to)
}

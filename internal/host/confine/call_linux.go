package confine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// call is struct seccomp_notif.
type call struct {
	id         uint64
	pid, flags uint32
	number     int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

// reply is struct seccomp_notif_resp.
type reply struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// answer handles a call of openat.
func (c *call) answer(fd uintptr, handle func(path string, unread error) error) error {
	path, err := c.path()
	if valid := control(fd, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&c.id)); errors.Is(valid, unix.ENOENT) { //nolint:gosec // the kernel reads it
		return nil // the call was interrupted; what was read may be of another program
	}
	r := reply{id: c.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	if handle(path, err) != nil {
		r = reply{id: c.id, errno: -int32(unix.EIO)}
	}
	return c.send(fd, r)
}

// send ends the wait of a call, which may have been interrupted.
func (*call) send(fd uintptr, r reply) error {
	err := control(fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r)) //nolint:gosec // the kernel reads r
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return os.NewSyscallError("answering a call", err)
	}
	return nil
}

// longName bounds what is read of a name. Longer ones are cut off.
const longName = 512

// path is where the call opens a file: absolute, or below the directory in /proc that it
// names.
func (c *call) path() (string, error) {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", c.pid))
	if err != nil {
		return "", err
	}
	defer memory.Close()
	var text [longName]byte
	n, err := memory.ReadAt(text[:], int64(c.args[1])) //nolint:gosec // an address of a program
	if n == 0 {
		return "", err
	}
	name, _, _ := bytes.Cut(text[:n], []byte{0})
	dir := int32(c.args[0]) //nolint:gosec // a descriptor
	switch {
	case bytes.HasPrefix(name, []byte("/proc/self/")):
		return filepath.Join("/proc", fmt.Sprint(c.pid), string(name[len("/proc/self"):])), nil
	case len(name) > 0 && name[0] == '/':
		return string(name), nil
	case dir == unix.AT_FDCWD:
		return filepath.Join("/proc", fmt.Sprint(c.pid), "cwd", string(name)), nil
	}
	return filepath.Join("/proc", fmt.Sprint(c.pid), "fd", fmt.Sprint(dir), string(name)), nil
}

func control(fd uintptr, request uintptr, arg unsafe.Pointer) error {
	if _, _, errno := syscall.Syscall(unix.SYS_IOCTL, fd, request, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

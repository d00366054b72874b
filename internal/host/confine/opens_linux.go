package confine

import (
	"errors"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrNoOpens says that this kernel, or the container, does not report calls of programs.
var ErrNoOpens = errors.New("seccomp user notification is not available")

// Opens are the calls of openat with O_CREAT that the programs of a thread make. Each waits
// until Serve has handled it. When the process that serves ends, the calls fail.
type Opens struct {
	listener *os.File
	closed   atomic.Bool
}

// NotifyOpens lets the calls of the programs that the calling thread starts wait for Serve,
// those of the thread included: it must be locked to its goroutine and end with it, and
// another goroutine must serve. With ErrNoOpens the thread is as before; after another error
// its programs cannot create files.
func NotifyOpens() (*Opens, error) {
	if err := tried(); err != nil {
		return nil, err
	}
	fd, err := listen()
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil { // for the poller of Go; the calls block as before
		_ = unix.Close(fd)
		return nil, err
	}
	return &Opens{listener: os.NewFile(uintptr(fd), "seccomp")}, nil
}

// Close ends Serve. Calls that wait, and all later ones, fail with ENOSYS.
func (o *Opens) Close() error {
	o.closed.Store(true)
	return o.listener.Close()
}

// Serve calls handle for each call, one after another, until Close or until the thread and
// its programs are gone.
func (o *Opens) Serve(handle HandleOpen) error {
	var failed error
	conn, err := o.listener.SyscallConn()
	if err != nil { // closed
		return nil //nolint:nilerr // the only reason
	}
	err = conn.Read(func(fd uintptr) bool {
		var more bool
		for more, failed = true, nil; more && failed == nil; {
			more, failed = serveOne(fd, handle)
		}
		return failed != nil
	})
	switch {
	case errors.Is(failed, errAllGone), o.closed.Load():
		return nil
	case failed != nil:
		return failed
	}
	return err
}

var errAllGone = errors.New("the programs are gone")

// serveOne handles a call, if one waits.
func serveOne(fd uintptr, handle HandleOpen) (more bool, err error) {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} //nolint:gosec // a descriptor
	n, err := unix.Poll(poll, 0)
	switch {
	case errors.Is(err, unix.EINTR):
		return true, nil
	case err != nil || n == 0:
		return false, err
	case poll[0].Revents&unix.POLLIN == 0:
		return false, errAllGone
	}
	var c call
	switch err := control(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&c)); { //nolint:gosec // the kernel fills c
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.ENOENT): // the call was interrupted; it comes again
		return true, nil
	case err != nil:
		return false, os.NewSyscallError("receiving a call", err)
	}
	return true, c.answer(fd, handle)
}

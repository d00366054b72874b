package confine

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrNoCalls says that this kernel, or the container, does not report calls of programs.
var ErrNoCalls = errors.New("seccomp user notification is not available")

// Calls are the calls that the programs of a thread make: of openat with O_CREAT, and of connect
// and tgkill.
// Each waits until Serve has handled it. When the process that serves ends, the calls fail.
type Calls struct {
	listener *os.File
	closed   atomic.Bool
}

// Notify lets the calls of the programs that the calling thread starts wait for Serve, those of
// the thread included: it must be locked to its goroutine and end with it, and another goroutine
// must serve. With ErrNoCalls the thread is as before; after another error its programs can neither
// create files nor connect.
func Notify(opens, connects bool) (*Calls, error) {
	if err := tried(); err != nil {
		return nil, err
	}
	fd, err := listen(opens, connects)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil { // for the poller of Go; the calls block as before
		_ = unix.Close(fd)
		return nil, err
	}
	return &Calls{listener: os.NewFile(uintptr(fd), "seccomp")}, nil
}

// Close ends Serve. Calls that wait, and all later ones, fail with ENOSYS.
func (n *Calls) Close() error {
	n.closed.Store(true)
	return n.listener.Close()
}

// Serve handles the calls of the program with the process id pid, opens one after another, until
// Close or until the thread and its programs are gone.
func (n *Calls) Serve(pid int, h Handlers) error {
	conn, err := n.listener.SyscallConn()
	if err != nil { // closed
		return nil
	}
	s := serving{conn: conn, pid: pid, handlers: h}
	if h.Connect != nil {
		if s.program, err = openProgram(pid); err != nil {
			h.Unchecked(err)
		} else {
			defer s.program.release()
		}
	}
	var failed error
	err = conn.Read(func(fd uintptr) bool {
		var more bool
		for more, failed = true, nil; more && failed == nil; {
			more, failed = serveOne(fd, s.handle)
		}
		return failed != nil
	})
	switch {
	case errors.Is(failed, errAllGone), n.closed.Load():
		return nil
	case failed != nil:
		return failed
	}
	return err
}

// serving is what Serve works with.
type serving struct {
	conn     syscall.RawConn
	pid      int
	handlers Handlers
	program  *program // nil if connections cannot be checked
}

// handle handles one call. A connection is made in the background: it may take time.
func (s *serving) handle(fd uintptr, c *call) error {
	goes := reply{id: c.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	switch {
	case c.number == unix.SYS_OPENAT:
		return c.answer(fd, s.handlers.Open)
	case c.number == unix.SYS_TGKILL && int(c.args[0]) != s.pid: //nolint:gosec // a process; the program cannot change it now
		return c.send(fd, reply{id: c.id, errno: -int32(unix.EPERM)})
	case c.number == unix.SYS_TGKILL, s.program == nil:
		return c.send(fd, goes)
	}
	s.program.hold()
	go func() {
		defer s.program.release()
		errno := c.connect(s.program, s.handlers.Connect)
		_ = s.conn.Control(func(fd uintptr) { // it fails when the program is gone
			_ = c.send(fd, reply{id: c.id, errno: -int32(errno)}) //nolint:gosec // a small number
		})
	}()
	return nil
}

var errAllGone = errors.New("the programs are gone")

// serveOne handles a call, if one waits.
func serveOne(fd uintptr, handle func(fd uintptr, c *call) error) (more bool, err error) {
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
	c := new(call)
	switch err := control(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(c)); { //nolint:gosec // the kernel fills c
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.ENOENT): // the call was interrupted; it comes again
		return true, nil
	case err != nil:
		return false, os.NewSyscallError("receiving a call", err)
	}
	return true, handle(fd, c)
}

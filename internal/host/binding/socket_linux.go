package binding

import (
	"cmp"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

var _ fileSender = (*socket)(nil)

// quickWrite is the number of bytes up to which a write is one of socket. Copying more takes
// so long that other goroutines need the processor.
const quickWrite = 16 << 10

// socket is a connection whose reads and small writes are system calls that Go's scheduler
// does not see. The descriptor does not block, so they never wait. The scheduler would
// prepare for a wait, and wake its monitor thread at each request of a quiet host: that took
// a quarter of the CPU time of a small request. One goroutine may read and one may write.
type socket struct {
	*net.UnixConn
	in, out transfer
}

// quicken returns conn as a socket if it is one of this machine.
func quicken(conn net.Conn) net.Conn {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return conn
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return conn
	}
	s := &socket{UnixConn: c}
	s.in.setUp(syscall.SYS_READ, raw.Read)
	s.out.setUp(syscall.SYS_WRITE, raw.Write)
	return s
}

// Read implements net.Conn.
func (s *socket) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err := s.in.run(b)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// Write implements net.Conn.
func (s *socket) Write(b []byte) (n int, err error) {
	if len(b) > quickWrite {
		return s.UnixConn.Write(b)
	}
	for n < len(b) && err == nil {
		var more int
		more, err = s.out.run(b[n:])
		n += more
	}
	return n, err
}

// sendMost is how many bytes of a file the kernel copies in one call, so that a fast reader
// does not keep the thread.
const sendMost = 1 << 20

// sendFile implements fileSender. It waits for the disk if it must, so the scheduler sees its calls.
func (s *socket) sendFile(f *os.File, off, n int64) (sent int64, err error) {
	wait := s.out.when(func(to uintptr) bool {
		for sent < n && err == nil {
			k, failed := syscall.Sendfile(int(to), int(f.Fd()), &off, int(min(n-sent, sendMost)))
			switch sent += int64(max(k, 0)); {
			case errors.Is(failed, syscall.EAGAIN):
				return false
			case errors.Is(failed, syscall.EINTR):
			case failed == nil && k == 0:
				err = io.ErrUnexpectedEOF
			default:
				err = failed
			}
		}
		return true
	})
	return sent, cmp.Or(err, wait)
}

// transfer is one direction of a socket.
type transfer struct {
	call uintptr                        // number of the system call
	when func(func(uintptr) bool) error // calls a function again, when the socket is ready, until it returns true
	try  func(uintptr) bool

	bytes []byte // what the call is for
	n     int
	err   error
}

func (t *transfer) setUp(call uintptr, when func(func(uintptr) bool) error) {
	t.call, t.when, t.try = call, when, t.once
}

// run moves some of b, and waits until the socket is ready for that.
func (t *transfer) run(b []byte) (int, error) {
	t.bytes, t.n, t.err = b, 0, nil
	err := t.when(t.try)
	t.bytes = nil
	if err != nil {
		return 0, err
	}
	return t.n, t.err
}

// once calls the kernel. It returns false when the socket is not ready.
func (t *transfer) once(fd uintptr) bool {
	for {
		//nolint:gosec // the bytes are of t, which the call keeps
		n, _, errno := syscall.RawSyscall(t.call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(t.bytes))), uintptr(len(t.bytes)))
		if errno == syscall.EINTR {
			continue
		}
		if errno == syscall.EAGAIN {
			return false
		}
		t.n = int(n)
		if errno != 0 {
			t.n, t.err = 0, errno
		}
		return true
	}
}

package binding

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hangupEvery is how often a connection is looked at while a request runs. A request
// that takes less costs nothing but the timer.
const hangupEvery = 50 * time.Millisecond

// hangup calls cancel when the other end closes a connection while a request runs.
// It only asks the kernel for the state of the socket: the handler may be reading
// the body, and what follows is the next request.
type hangup struct {
	socket syscall.RawConn
	cancel context.CancelFunc
	timer  *time.Timer

	mu      sync.Mutex
	running bool // a request
}

// watchHangup gives nil for a connection that is no socket.
func watchHangup(conn net.Conn, cancel context.CancelFunc) *hangup {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	socket, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	h := &hangup{socket: socket, cancel: cancel}
	h.timer = time.AfterFunc(hangupEvery, h.look)
	h.timer.Stop()
	return h
}

// begin and end are called around each request.
func (h *hangup) begin() { h.set(true) }

func (h *hangup) end() { h.set(false) }

func (h *hangup) set(running bool) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running = running
	if running {
		h.timer.Reset(hangupEvery)
	} else {
		h.timer.Stop()
	}
}

// look is called by the timer, which may have fired just before end.
func (h *hangup) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !h.running:
	case isHungUp(h.socket):
		h.cancel()
	default:
		h.timer.Reset(hangupEvery)
	}
}

// isHungUp reports whether the other end of a socket is closed, whatever of its data
// is not read yet.
func isHungUp(socket syscall.RawConn) (closed bool) {
	err := socket.Control(func(fd uintptr) {
		state := []unix.PollFd{{Fd: int32(fd)}} //nolint:gosec // descriptors are small
		n, err := unix.Poll(state, 0)
		closed = n > 0 && err == nil && state[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
	})
	return closed || err != nil // an error: closed on this side
}

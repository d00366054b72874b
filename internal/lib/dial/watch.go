package dial

import (
	"net"
	"syscall"
	"time"
)

// stuckAfter is when a connection ends whose other end takes no byte, although its machine
// answers: the gateway disconnects a client that cannot send for as long.
const stuckAfter = time.Minute

// watched is a connection that is closed when its machine does not confirm what was sent, or does not
// answer the kernel's probes while nothing was.
type watched struct {
	*net.TCPConn

	raw   syscall.RawConn
	lost  time.Duration
	timer *time.Timer
}

// watch watches a connection, which may be nil.
func watch(nc net.Conn, lost time.Duration) net.Conn {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nc
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nc
	}
	w := &watched{TCPConn: tcp, raw: raw, lost: lost}
	w.timer = time.AfterFunc(time.Hour, w.look) // look needs the timer
	w.timer.Reset(lost / probes)
	return w
}

// look closes a connection to a machine that is silent. A closed one is looked at no more.
func (w *watched) look() {
	silent, err := isSilent(w.raw, w.lost)
	switch {
	case err != nil:
	case silent:
		_ = w.TCPConn.Close()
	default:
		w.timer.Reset(w.lost / probes)
	}
}

// Close closes the connection.
func (w *watched) Close() error {
	w.timer.Stop()
	return w.TCPConn.Close()
}

package relay

import (
	"context"
	"crypto/tls"
	"net"
	"syscall"
	"time"
)

const (
	// lostAfter is when a connection to a machine ends that does not answer any more. Then the
	// daemon that knows of the machine's loss has opened the version elsewhere, or is about to.
	lostAfter = 5 * time.Second
	// stuckAfter is when a connection ends whose other end takes no byte, although its machine
	// answers: the gateway disconnects a client that cannot send for as long.
	stuckAfter = time.Minute
)

// DialTCP connects to an address, with TLS unless secure is nil. The connection ends 5 seconds after
// the other machine has stopped to answer, whether there is something to send or not. A worker that
// does not read for that long is no such case.
func DialTCP(ctx context.Context, address string, secure *tls.Config) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: lostAfter / 5, Interval: lostAfter / 5, Count: 4}, Control: endStuck}
	nc, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if tcp, ok := nc.(*net.TCPConn); ok {
		nc = watch(tcp)
	}
	if secure == nil {
		return nc, nil
	}
	if secure.ServerName == "" && !secure.InsecureSkipVerify {
		secure = secure.Clone()
		secure.ServerName, _, _ = net.SplitHostPort(address)
	}
	encrypted := tls.Client(nc, secure)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		_ = nc.Close()
		return nil, err
	}
	return encrypted, nil
}

// watched is a connection that is closed when its machine does not confirm what was sent. The kernel
// probes only connections on which nothing is under way.
type watched struct {
	*net.TCPConn

	raw   syscall.RawConn
	timer *time.Timer
}

func watch(tcp *net.TCPConn) net.Conn {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return tcp
	}
	w := &watched{TCPConn: tcp, raw: raw}
	w.timer = time.AfterFunc(time.Hour, w.look) // look needs the timer
	w.timer.Reset(lostAfter / 5)
	return w
}

// look closes a connection to a machine that is silent. A closed one is looked at no more.
func (w *watched) look() {
	silent, err := isSilent(w.raw)
	switch {
	case err != nil:
	case silent:
		_ = w.TCPConn.Close()
	default:
		w.timer.Reset(lostAfter / 5)
	}
}

// Close closes the connection.
func (w *watched) Close() error {
	w.timer.Stop()
	return w.TCPConn.Close()
}

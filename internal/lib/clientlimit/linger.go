package clientlimit

import (
	"net"
	"time"
)

// Linger are the limits for the bytes that a server reads and drops after its answer. A close
// with unread input is a reset, at which the client loses an answer that it has not read
// (RFC 9112, 9.6).
type Linger struct {
	Silence time.Duration // without a byte
	Time    time.Duration // in all
	Bytes   int64         // in all
	Stopped func() bool   // ends the drop before its next read; nil never does
}

// DefaultLinger are the limits for clients that were admitted.
func DefaultLinger() Linger {
	return Linger{Silence: 5 * time.Second, Time: 30 * time.Second, Bytes: 256 << 20}
}

// CloseWrite closes the direction to the client, if the connection can close one direction, and
// drops what the client sends, until the client has closed its side or a limit is reached. The
// caller closes the connection. buf is the buffer of the reads.
func (l Linger) CloseWrite(nc net.Conn, buf []byte) {
	if half, ok := nc.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // after an error the first read fails too
	}
	_, _ = l.Drop(nc, func() (int, error) { return nc.Read(buf) }, func() bool { return false })
}

// Drop calls read until done reports true, or until an error or a limit: then whole is false.
// read reads from nc, whose read deadline Drop changes.
func (l Linger) Drop(nc net.Conn, read func() (int, error), done func() bool) (whole bool, err error) {
	end := time.Now().Add(l.Time)
	for n := int64(0); !done(); {
		now := time.Now()
		if n > l.Bytes || !now.Before(end) || l.Stopped != nil && l.Stopped() {
			return false, nil
		}
		due := now.Add(l.Silence)
		if end.Before(due) {
			due = end
		}
		if err := nc.SetReadDeadline(due); err != nil {
			return false, err
		}
		k, err := read()
		if n += int64(k); err != nil {
			return false, err
		}
	}
	return true, nc.SetReadDeadline(time.Time{})
}

// Lingering returns a listener for a server of net/http without a Guard: its connections drop the
// rest of a body that was not read, so that the client gets its answer.
func Lingering(l net.Listener) net.Listener { return lingering{l} }

type lingering struct{ net.Listener }

func (l lingering) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return patient{nc}, nil
}

type patient struct{ net.Conn }

// CloseWrite is that of guarded.
func (c patient) CloseWrite() error {
	DefaultLinger().CloseWrite(c.Conn, make([]byte, lingerBuffer))
	return nil
}

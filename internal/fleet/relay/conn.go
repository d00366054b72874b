package relay

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Conn is a gateway's connection to a runtime. Its Read and Write carry HTTP/1.1, between
// Begin and End. One goroutine may read while another one writes.
type Conn struct {
	net.Conn

	in       *bufio.Reader
	left     int  // bytes of the data frame that is being read
	admitted bool // the request that is being answered

	mu  sync.Mutex // guards out and its writes
	out []byte     // frames that the next write sends first
}

// readBuffer is the size of the buffer of a connection: larger reads bypass it.
const readBuffer = 4 << 10

// NewConn returns the gateway's end of a connection whose preface was accepted. in, which may
// be nil, has what was read behind the answer.
func NewConn(nc net.Conn, in *bufio.Reader) *Conn {
	if in == nil {
		in = bufio.NewReaderSize(nc, readBuffer)
	}
	return &Conn{Conn: nc, in: in}
}

// Begin begins a request. With wait it returns when the request is admitted, at the latest after
// limit; without, the first Read reports an error. Errors: those of Read.
func (c *Conn) Begin(role svc.Role, preview string, wait bool, limit time.Duration) error {
	c.admitted = false
	c.mu.Lock()
	c.out = appendBegin(c.out, role, preview)
	c.mu.Unlock()
	if !wait {
		return nil
	}
	_ = c.SetReadDeadline(time.Now().Add(limit))
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	if err := c.flush(nil); err != nil {
		return fmt.Errorf("%w: %w", ErrNotAdmitted, err)
	}
	for !c.admitted {
		if err := c.next(); errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("%w within %s", ErrNotAdmitted, limit)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Write sends b, which belongs to the caller. If it fails, an unknown part was sent.
func (c *Conn) Write(b []byte) (int, error) {
	if err := c.flush(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// flush sends what waits, and then b, in one write.
func (c *Conn) flush(b []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(b) > 0 {
		c.out = appendData(c.out, b)
	}
	_, err := c.Conn.Write(c.out)
	if c.out = c.out[:0]; cap(c.out) > 2*maxFrame {
		c.out = nil
	}
	return err
}

// End ends the admission of a request whose response was read to its end. Another Begin may
// follow.
func (c *Conn) End() error { return c.send(kindEnd) }

// Opened ends the admission of a request that has opened a websocket: nothing waits for it.
func (c *Conn) Opened() error { return c.send(kindSocket) }

func (c *Conn) send(kind byte) error {
	c.mu.Lock()
	c.out = appendHead(c.out, kind, 0)
	c.mu.Unlock()
	return c.flush(nil)
}

// Read reads what the runtime has sent. Errors besides those of the connection:
// ErrNotAdmitted, *MovedError, ErrFull, ErrUnread.
func (c *Conn) Read(b []byte) (int, error) {
	for c.left == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n, err := c.in.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}

// next reads a frame that is not data, or the head of one that is.
func (c *Conn) next() error {
	kind, n, err := readHead(c.in)
	if err != nil {
		return c.broken(err)
	}
	switch {
	case kind == kindAdmitted && n == 0 && !c.admitted:
		c.admitted = true
	case kind == kindData && c.admitted:
		c.left = n
	case kind == kindMoved && n == 8 && !c.admitted:
		var b [8]byte
		if _, err := io.ReadFull(c.in, b[:]); err != nil {
			return c.broken(err)
		}
		return &MovedError{Generation: binary.BigEndian.Uint64(b[:])}
	case kind == kindFull && n == 0 && !c.admitted:
		return ErrFull
	case kind == kindUnread && n == 0 && c.admitted:
		return ErrUnread
	default:
		return errProtocol
	}
	return nil
}

// broken says what the end of a connection means for the request.
func (c *Conn) broken(err error) error {
	if c.admitted || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNotAdmitted, err)
}

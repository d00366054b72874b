package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strconv"
	"time"
)

// Target is where requests go.
type Target struct {
	Network string // "tcp" or "unix"
	Address string
	Host    string // the Host header
}

// Get is a complete request.
func (t Target) Get(path string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, t.Host)
}

// Post is a complete request with a body.
func (t Target) Post(path, body string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", path, t.Host, len(body), body)
}

// Conn is one kept connection. Not safe for concurrent use.
type Conn struct {
	conn net.Conn
	in   *bufio.Reader
	head [64]byte // the body's first bytes
}

// Dial connects. All of the connection's work ends after limit.
func Dial(ctx context.Context, t Target, limit time.Duration) (*Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, t.Network, t.Address)
	if err != nil {
		return nil, err
	}
	if err := c.SetDeadline(time.Now().Add(limit)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &Conn{conn: c, in: bufio.NewReader(c)}, nil
}

// Close ends the connection.
func (c *Conn) Close() { _ = c.conn.Close() } // it was only read and written

// Do sends a request and reads the answer. The body's first bytes are valid
// until the next call.
func (c *Conn) Do(request []byte) (status int, body []byte, err error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, nil, err
	}
	status, length, err := c.header()
	if err != nil {
		return status, nil, err
	}
	if length == inChunks {
		body, err = c.chunks()
		return status, body, err
	}
	body = c.head[:min(length, len(c.head))]
	if _, err := io.ReadFull(c.in, body); err != nil {
		return status, nil, err
	}
	_, err = c.in.Discard(length - len(body))
	return status, body, err
}

// chunks reads a body in chunks.
func (c *Conn) chunks() (first []byte, err error) {
	in := httputil.NewChunkedReader(c.in)
	n, err := io.ReadFull(in, c.head[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return nil, err
	}
	_, err = c.in.Discard(len("\r\n")) // behind the last chunk, without trailers
	return c.head[:n], err
}

// inChunks is the length of a body that has none.
const inChunks = -2

// header reads up to the empty line. Every answer measured here has a length, or chunks.
func (c *Conn) header() (status, length int, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, 0, err
	}
	if len(line) < len("HTTP/1.1 200") {
		return 0, 0, fmt.Errorf("the answer begins with %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, 0, err
	}
	length = -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return status, 0, err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		if bytes.EqualFold(line, []byte("transfer-encoding: chunked")) {
			length = inChunks
		}
		const name = "content-length:"
		if len(line) > len(name) && bytes.EqualFold(line[:len(name)], []byte(name)) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(name):]))); err != nil {
				return status, 0, err
			}
		}
	}
	if length == -1 {
		return status, 0, fmt.Errorf("an answer with status %d and no Content-Length", status)
	}
	return status, length, nil
}

package conn

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

// inlineUpload is the maximum size of the rest of a body, in bytes, that is forwarded
// within patience before the response is read. It fits into a socket's buffer, so
// forwarding it cannot block on a runtime that does not read it.
const inlineUpload = 64 << 10

// Buffers for chunks have space for the chunk's size in front, and for the ends of
// chunk and body behind.
const (
	Headroom = 16
	Tailroom = 16
)

// upload is the state of a request's body that is forwarded to the runtime.
type upload struct {
	left    int64 // bytes, of a body with a length
	chunked bool
	dec     http1.Chunked
	read    bool        // the whole body was read from the client
	passed  atomic.Bool // the whole body was written to the runtime
}

func (u *upload) begin(req *http1.Request) {
	u.dec = http1.Chunked{Trailer: u.dec.Trailer[:0]}
	u.left, u.chunked = max(req.Length, 0), req.Chunked
	u.read = !req.HasBody()
	u.passed.Store(u.read)
}

// takeInput appends to head the part of a body with a length that is in the input,
// so that one write sends both.
func (c *Conn) takeInput(x *connExchange) {
	u := &x.upload
	if u.read || u.chunked || x.Req.WantsContinue() {
		return
	}
	n := int(min(int64(c.in.len()), u.left))
	x.head = append(x.head, c.in.bytes()[:n]...)
	c.in.use(n)
	u.left -= int64(n)
	u.read = u.left == 0
	u.passed.Store(u.read)
}

// pump forwards the rest of the body. Errors: ErrUpstreamWrite, an error of the
// grammar, or an error of the client's connection; after a deadline, pump can be
// called again.
func (c *Conn) pump(x *connExchange) error {
	buf := make([]byte, Headroom+BufferSize+Tailroom)
	for u := &x.upload; !u.read; {
		n, err := c.readBody(u, buf[Headroom:Headroom+BufferSize])
		if err != nil {
			return err
		}
		out := buf[Headroom : Headroom+n]
		if u.chunked {
			out = FrameChunk(buf, n, u.read, nil) // trailers of a request are not forwarded
		}
		if _, err := c.up.Write(out); err != nil {
			return fmt.Errorf("%w: %w", ErrUpstreamWrite, err)
		}
	}
	x.upload.passed.Store(true)
	return nil
}

// pumpSoon calls pump for the time of patience; a watch forwards the rest.
func (c *Conn) pumpSoon(x *connExchange) error {
	if err := c.nc.SetReadDeadline(c.now.Add(Patience)); err != nil {
		return err
	}
	err := c.pump(x)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return errors.Join(err, c.nc.SetReadDeadline(time.Time{}))
}

// readBody reads the next piece of the body into buf: from the input if that is not
// empty, else from the connection.
func (c *Conn) readBody(u *upload, buf []byte) (int, error) {
	if u.chunked {
		return c.readChunks(u, buf)
	}
	buf = buf[:min(int64(len(buf)), u.left)]
	var n int
	var err error
	if c.in.len() > 0 {
		n = copy(buf, c.in.bytes())
		c.in.use(n)
	} else {
		n, err = c.nc.ReadBody(buf)
	}
	u.left -= int64(n)
	u.read = u.left == 0
	if n > 0 {
		err = nil
	}
	return n, err
}

// readChunks reads chunks through the input. The bytes behind the body stay there.
func (c *Conn) readChunks(u *upload, buf []byte) (int, error) {
	if c.in.len() == 0 {
		c.in.reserve(InputSize / 4)
		if n, err := c.in.fill((*bodyReader)(c.nc)); n == 0 && err != nil {
			return 0, err
		}
	}
	raw := buf[:copy(buf, c.in.bytes())]
	n, used, err := u.dec.Decode(raw)
	c.in.use(used)
	u.read = u.dec.Done()
	return n, err
}

// FrameChunk frames the n bytes in buf[headroom:] as a chunk, and with last appends
// the end of the body. The result is in buf, unless the trailer is long.
func FrameChunk(buf []byte, n int, last bool, trailer []byte) []byte {
	start, end := Headroom, Headroom+n
	if n > 0 {
		var size [Headroom]byte
		s := http1.AppendChunkSize(size[:0], n)
		start -= len(s)
		copy(buf[start:], s)
		end += copy(buf[end:], "\r\n")
	}
	if !last {
		return buf[start:end]
	}
	end += copy(buf[end:], "0\r\n")
	out := append(buf[start:end:end+2], trailer...)
	return append(out, '\r', '\n')
}

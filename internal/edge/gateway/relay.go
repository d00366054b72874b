package gateway

import (
	"context"
	"errors"
	"io"

	"github.com/svcctl/svcctl/internal/edge/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

// relay sends the response whose head is in x.resp to the client, releases the
// claim and leaves the runtime's connection. It sets x.whole if the response is complete, and
// x.keep if it says that the client's connection stays open.
func (c *conn) relay(ctx context.Context, x *exchange) {
	defer x.claim.release()
	keep := c.keeps(x)
	c.nc.answered(&x.request)
	if x.resp.Status == 101 {
		c.upgrade(ctx, x)
		return
	}
	x.status = x.resp.Status
	c.g.startCompressing(&x.request)
	defer c.g.endCompressing(&x.request)
	from, to := x.framing()
	keep = keep && to != byClose
	x.out = x.appendResponse(x.out[:0], to, keep)
	whole, err := c.relayBody(x, from, to)
	switch {
	case err != nil:
		c.dropUpstream()
		c.nc.breakOff(&x.request, to, c.isGone())
		return
	case whole && x.resp.KeepsAlive() && x.upload.passed.Load():
		c.stopWatch()
		up := c.up
		if c.attach(nil); c.isGone() {
			_ = up.Close()
			return
		}
		x.claim.upstream.put(up, c.now)
	default:
		c.dropUpstream()
	}
	x.whole, x.keep = true, keep
}

// relayBody sends head and body. whole reports whether the runtime's connection is
// at the end of the response and not past it.
func (c *conn) relayBody(x *exchange, from, to framing) (whole bool, err error) {
	switch rest := x.filled - x.reply; from {
	case noBody:
		return rest == 0, c.send(x, x.out)
	case byLength:
		if x.compressor != nil {
			return c.relayStream(x, from, to)
		}
		return c.relayLength(x)
	case byChunks, byClose:
		return c.relayStream(x, from, to)
	}
	return false, nil
}

func (c *conn) send(x *exchange, b []byte) error {
	x.began = true
	if _, err := c.nc.Write(b); err != nil {
		return c.hungUp(err)
	}
	return nil
}

// relayLength sends a body of known length, its first part together with the head.
func (c *conn) relayLength(x *exchange) (whole bool, err error) {
	first := x.buf[headroom+x.reply : headroom+x.filled]
	left := x.resp.Length
	extra := int64(len(first)) > left
	first = first[:min(int64(len(first)), left)]
	left -= int64(len(first))
	x.out = append(x.out, first...)
	if err := c.send(x, x.out); err != nil {
		return false, err
	}
	x.sent = int64(len(first))
	buf := x.buf[headroom : headroom+bufferSize]
	if large := c.g.large.get(left); large != nil {
		defer c.g.large.put(large)
		buf = *large
	}
	for left > 0 {
		n, err := c.move(x, buf, left)
		extra = n > left
		if left -= n; err != nil {
			return false, err
		}
	}
	return !extra, nil
}

// move reads what the runtime has sent, up to the size of buf, and sends at most limit bytes of
// it to the client. It returns how many bytes it has read. The kernel could copy them (splice),
// which measured slower here than reading and writing.
func (c *conn) move(x *exchange, buf []byte, limit int64) (int64, error) {
	n, err := c.readUpstream(x, buf)
	if err != nil {
		return 0, err
	}
	part := buf[:min(int64(n), limit)]
	if err := c.send(x, part); err != nil {
		return 0, err
	}
	x.sent += int64(len(part))
	return int64(n), nil
}

// relayStream sends a body without a length, each piece when it arrives.
func (c *conn) relayStream(x *exchange, from, to framing) (whole bool, err error) {
	var dec http1.Chunked
	left := x.resp.Length
	n := copy(x.buf[headroom:], x.buf[headroom+x.reply:headroom+x.filled])
	p := piece{head: x.out, chunk: to == byChunks}
	for {
		p.data = n
		extra := false
		if from == byChunks {
			var used int
			if p.data, used, err = dec.Decode(x.buf[headroom : headroom+n]); err != nil {
				return false, err
			}
			p.last, p.trailer, extra = dec.Done(), dec.Trailer, used < n
		}
		if from == byLength {
			extra = int64(n) > left
			p.data = int(min(int64(n), left))
			left -= int64(p.data)
			p.last = left == 0
		}
		p.full = n == bufferSize
		if err := c.sendPiece(x, p); err != nil {
			return false, err
		}
		if p.last {
			return !extra, nil
		}
		p.head = nil
		n, err = c.readUpstream(x, x.buf[headroom:headroom+bufferSize])
		if from == byClose && errors.Is(err, io.EOF) {
			return false, c.sendPiece(x, piece{chunk: p.chunk, last: true})
		}
		if err != nil {
			return false, err
		}
	}
}

// piece is a part of a response: a head, data (a number of bytes at
// x.buf[headroom:]), and the end of the body. Each of them may be absent.
type piece struct {
	head    []byte
	data    int
	chunk   bool // frame the data as a chunk
	full    bool // more data is probably available already
	last    bool
	trailer []byte
}

// sendPiece sends a piece in one write.
func (c *conn) sendPiece(x *exchange, p piece) error {
	if x.compressor != nil {
		return c.sendCompressed(x, p)
	}
	out := x.buf[headroom : headroom+p.data]
	if p.chunk {
		out = frameChunk(x.buf, p.data, p.last, p.trailer)
	}
	if len(p.head) > 0 {
		x.out = append(p.head, out...)
		out = x.out
	}
	if len(out) == 0 {
		return nil
	}
	if err := c.send(x, out); err != nil {
		return err
	}
	x.sent += int64(p.data)
	return nil
}

// sendCompressed compresses a piece and sends what the compressor has written.
func (c *conn) sendCompressed(x *exchange, p piece) error {
	z := x.compressor
	if err := z.add(x.buf[headroom:headroom+p.data], !p.full, p.last); err != nil {
		return err
	}
	x.out = append(x.out[:0], p.head...)
	n := z.out.Len()
	if n > 0 {
		x.out = append(http1.AppendChunkSize(x.out, n), z.out.Bytes()...)
		x.out = append(x.out, '\r', '\n')
	}
	if p.last {
		x.out = append(append(append(x.out, "0\r\n"...), p.trailer...), '\r', '\n')
	}
	z.out.Reset()
	if len(x.out) == 0 {
		return nil
	}
	if err := c.send(x, x.out); err != nil {
		return err
	}
	x.sent += int64(n)
	return nil
}

// breakOff records a response that ended early. A response that is framed by the
// end of the connection ends with a reset, so that the client cannot mistake the end
// for the end of the body.
func (nc *client) breakOff(x *request, to framing, gone bool) {
	x.errCode = svc.CodeRuntimeUnavailable
	if gone {
		x.status, x.errCode = StatusClientGone, ""
	}
	if to == byClose {
		nc.resetOnClose()
	}
}

package conn

import (
	"context"
	"errors"
	"io"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

// relay sends the response whose head is in x.Resp to the client, releases the
// claim and leaves the runtime's connection. It sets x.whole if the response is complete, and
// x.keep if it says that the client's connection stays open.
func (c *Conn) relay(ctx context.Context, x *connExchange) {
	defer x.Claim.Release()
	keep := c.keeps(x)
	c.nc.Answered(&x.Request)
	if x.Resp.Status == 101 {
		c.upgrade(ctx, x)
		return
	}
	x.Status = x.Resp.Status
	c.g.StartCompressing(&x.Request)
	defer c.g.EndCompressing(&x.Request)
	from, to := x.Framing()
	keep = keep && to != exchange.ByClose
	x.out = x.AppendResponse(x.out[:0], to, keep)
	whole, err := c.relayBody(x, from, to)
	switch {
	case err != nil:
		c.dropUpstream()
		c.nc.BreakOff(&x.Request, to, c.isGone())
		return
	case whole && x.Resp.KeepsAlive() && x.upload.passed.Load():
		c.stopWatch()
		up := c.up
		if c.attach(nil); c.isGone() {
			_ = up.Close()
			return
		}
		x.Claim.Upstream.Put(up, c.now)
	default:
		c.dropUpstream()
	}
	x.whole, x.keep = true, keep
}

// relayBody sends head and body. whole reports whether the runtime's connection is
// at the end of the response and not past it.
func (c *Conn) relayBody(x *connExchange, from, to exchange.Framing) (whole bool, err error) {
	switch rest := x.filled - x.reply; from {
	case exchange.Empty:
		return rest == 0, c.send(x, x.out)
	case exchange.ByLength:
		if x.Compressor != nil {
			return c.relayStream(x, from, to)
		}
		return c.relayLength(x)
	case exchange.ByChunks, exchange.ByClose:
		return c.relayStream(x, from, to)
	}
	return false, nil
}

func (c *Conn) send(x *connExchange, b []byte) error {
	x.began = true
	if _, err := c.nc.Write(b); err != nil {
		return c.hungUp(err)
	}
	return nil
}

// relayLength sends a body of known length, its first part together with the head.
func (c *Conn) relayLength(x *connExchange) (whole bool, err error) {
	first := x.buf[Headroom+x.reply : Headroom+x.filled]
	left := x.Resp.Length
	extra := int64(len(first)) > left
	first = first[:min(int64(len(first)), left)]
	left -= int64(len(first))
	x.out = append(x.out, first...)
	if err := c.send(x, x.out); err != nil {
		return false, err
	}
	x.Sent = int64(len(first))
	buf := x.buf[Headroom : Headroom+BufferSize]
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
func (c *Conn) move(x *connExchange, buf []byte, limit int64) (int64, error) {
	n, err := c.readUpstream(x, buf)
	if err != nil {
		return 0, err
	}
	part := buf[:min(int64(n), limit)]
	if err := c.send(x, part); err != nil {
		return 0, err
	}
	x.Sent += int64(len(part))
	return int64(n), nil
}

// relayStream sends a body without a length, each piece when it arrives.
func (c *Conn) relayStream(x *connExchange, from, to exchange.Framing) (whole bool, err error) {
	var dec http1.Chunked
	left := x.Resp.Length
	n := copy(x.buf[Headroom:], x.buf[Headroom+x.reply:Headroom+x.filled])
	p := piece{head: x.out, chunk: to == exchange.ByChunks}
	for {
		p.data = n
		extra := false
		if from == exchange.ByChunks {
			var used int
			if p.data, used, err = dec.Decode(x.buf[Headroom : Headroom+n]); err != nil {
				return false, err
			}
			p.last, p.trailer, extra = dec.Done(), dec.Trailer, used < n
		}
		if from == exchange.ByLength {
			extra = int64(n) > left
			p.data = int(min(int64(n), left))
			left -= int64(p.data)
			p.last = left == 0
		}
		p.full = n == BufferSize
		if err := c.sendPiece(x, p); err != nil {
			return false, err
		}
		if p.last {
			return !extra, nil
		}
		p.head = nil
		n, err = c.readUpstream(x, x.buf[Headroom:Headroom+BufferSize])
		if from == exchange.ByClose && errors.Is(err, io.EOF) {
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
func (c *Conn) sendPiece(x *connExchange, p piece) error {
	if x.Compressor != nil {
		return c.sendCompressed(x, p)
	}
	out := x.buf[Headroom : Headroom+p.data]
	if p.chunk {
		out = FrameChunk(x.buf, p.data, p.last, p.trailer)
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
	x.Sent += int64(p.data)
	return nil
}

// sendCompressed compresses a piece and sends what the compressor has written.
func (c *Conn) sendCompressed(x *connExchange, p piece) error {
	z := x.Compressor
	if err := z.Add(x.buf[Headroom:Headroom+p.data], !p.full, p.last); err != nil {
		return err
	}
	x.out = append(x.out[:0], p.head...)
	n := z.Out.Len()
	if n > 0 {
		x.out = append(http1.AppendChunkSize(x.out, n), z.Out.Bytes()...)
		x.out = append(x.out, '\r', '\n')
	}
	if p.last {
		x.out = append(append(append(x.out, "0\r\n"...), p.trailer...), '\r', '\n')
	}
	z.Out.Reset()
	if len(x.out) == 0 {
		return nil
	}
	if err := c.send(x, x.out); err != nil {
		return err
	}
	x.Sent += int64(n)
	return nil
}

// BreakOff records a response that ended early. A response that is framed by the
// end of the connection ends with a reset, so that the client cannot mistake the end
// for the end of the body.
func (nc *Client) BreakOff(x *exchange.Request, to exchange.Framing, gone bool) {
	x.ErrCode = svc.CodeRuntimeUnavailable
	if gone {
		x.Status, x.ErrCode = exchange.StatusClientGone, ""
	}
	if to == exchange.ByClose {
		nc.resetOnClose()
	}
}

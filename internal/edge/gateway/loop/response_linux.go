package loop

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/http1"
)

// pump forwards what the runtime has sent, as long as the client takes it.
func (l *loop) pump(c *loopClient) {
	x, up := c.x, c.up
	for turn := 0; up.readable && len(c.out) == 0 && c.x == x; turn++ {
		if turn == loopTurns {
			l.turn(c)
			return
		}
		n, err := recv(up.fd, l.buf[loopMargin:loopMargin+loopRead])
		switch {
		case errors.Is(err, unix.EAGAIN):
			up.readable = false
			return
		case n == 0:
			l.failed(c, err)
			return
		}
		up.readable = n == loopRead || up.ended // a short read has taken all
		if x.replied {
			l.more(c, n)
		} else {
			l.reply(c, n)
		}
	}
}

// reply reads heads of the runtime. n bytes are in l.buf[loopMargin:].
func (l *loop) reply(c *loopClient, n int) {
	x := c.x
	buf := l.buf
	if len(x.part) > 0 {
		x.part = append(x.part, buf[loopMargin:loopMargin+n]...)
		if n = len(x.part); loopMargin+n+conn.Tailroom > len(buf) {
			buf = make([]byte, loopMargin+n+conn.Tailroom)
		}
		copy(buf[loopMargin:], x.part)
	}
	for at, end := loopMargin, loopMargin+n; ; {
		k, err := http1.FindHead(buf[at:end], 0)
		if err == nil && k == 0 && end-at > conn.MaxResponseHead {
			err = errors.New("the head of the response is too large")
		}
		if err == nil && k > 0 {
			err = x.Resp.Parse(buf[at : at+k])
		}
		switch {
		case err != nil:
			l.fail(c, err)
			return
		case k == 0:
			x.part = append(x.part[:0], buf[at:end]...)
			return
		case x.Resp.Status >= 200 || x.Resp.Status == 101:
			l.final(c, buf, response{at, at + k, end})
			return
		case !l.interim(c):
			return
		}
		at += k
	}
}

// response are offsets in a buffer: of the head of a response, of its body, and of the end
// of what has arrived.
type response struct{ head, body, end int }

// interim forwards a 1xx response to a client of HTTP/1.1. It reports false if the client
// has left.
func (l *loop) interim(c *loopClient) bool {
	x := c.x
	if x.Req.Minor == 0 {
		return true
	}
	l.out = append(exchange.AppendFields(exchange.AppendStatus(l.out[:0], &x.Resp), &x.Resp), '\r', '\n')
	return l.write(c, l.out)
}

// final begins the response whose head is in x.Resp.
func (l *loop) final(c *loopClient, buf []byte, at response) {
	x := c.x
	if x.Resp.Status == 101 && x.Req.IsWebSocket() && x.Resp.IsWebSocket() {
		l.upgrade(c, buf[at.body:at.end])
		return
	}
	if l.isElsewhere(x) {
		l.handOverResponse(c, buf[at.head:at.end], at.body-at.head)
		return
	}
	x.Status, x.replied = x.Resp.Status, true
	x.from, x.to = x.Framing()
	x.keep = x.Req.KeepsAlive() && x.to != exchange.ByClose && !l.e.IsClosing()
	x.left = x.Resp.Length
	l.out = x.AppendResponse(l.out[:0], x.to, x.keep)
	head, n := len(l.out), at.end-at.body
	switch {
	case x.from == exchange.Empty:
		x.extra = n > 0
		l.sendPart(c, l.out, true)
	case x.from == exchange.ByLength && head <= at.body: // the head goes directly in front of the body
		n = x.take(n)
		copy(buf[at.body-head:], l.out)
		l.sendPart(c, buf[at.body-head:at.body+n], x.left == 0)
	default:
		l.piece(c, buf[at.body-conn.Headroom:], n, l.out)
	}
}

// isElsewhere reports whether a goroutine sends the response: a compressed one, that of a
// worker that threw, or one that switches protocols without being asked to.
func (l *loop) isElsewhere(x *loopExchange) bool {
	if x.Resp.Status == 101 || x.Threw() {
		return true
	}
	return l.e.EncodingOf(&x.Request) != http1.Identity
}

// take returns how many of n bytes belong to a body with a length.
func (x *loopExchange) take(n int) int {
	x.extra = int64(n) > x.left
	n = int(min(int64(n), x.left))
	x.left -= int64(n)
	x.Sent += int64(n)
	return n
}

// more sends the n bytes of the body in l.buf[loopMargin:].
func (l *loop) more(c *loopClient, n int) {
	x := c.x
	if x.from != exchange.ByLength {
		l.piece(c, l.buf[loopMargin-conn.Headroom:], n, nil)
		return
	}
	n = x.take(n)
	l.sendPart(c, l.buf[loopMargin:loopMargin+n], x.left == 0)
}

// piece sends the n bytes in buf[headroom:] of a body without a length, behind head.
func (l *loop) piece(c *loopClient, buf []byte, n int, head []byte) {
	x, last := c.x, false
	switch x.from {
	case exchange.ByLength:
		n = x.take(n)
		last = x.left == 0
	case exchange.ByChunks:
		data, used, err := x.dec.Decode(buf[conn.Headroom : conn.Headroom+n])
		if err != nil {
			l.breakOff(c)
			return
		}
		last, x.extra, n = x.dec.Done(), used < n, data
		x.Sent += int64(n)
	case exchange.ByClose:
		x.Sent += int64(n)
	case exchange.Empty:
	}
	out := buf[conn.Headroom : conn.Headroom+n]
	if x.to == exchange.ByChunks {
		out = conn.FrameChunk(buf, n, last, x.dec.Trailer)
	}
	if head != nil {
		l.out = append(head, out...)
		out = l.out
	}
	l.sendPart(c, out, last)
}

// sendPart sends a part of a response; last ends it.
func (l *loop) sendPart(c *loopClient, b []byte, last bool) {
	if l.write(c, b) && last {
		l.finish(c)
	}
}

// finish ends a complete response.
func (l *loop) finish(c *loopClient) {
	x, up := c.x, c.up
	c.up = nil
	if x.extra || !x.Resp.KeepsAlive() {
		l.closeRuntime(up)
	} else {
		l.release(up)
	}
	l.complete(c)
}

// endStream ends a response that lasts until the runtime closes its connection.
func (l *loop) endStream(c *loopClient) {
	x := c.x
	x.extra = true
	var end []byte
	if x.to == exchange.ByChunks {
		end = []byte("0\r\n\r\n")
	}
	l.sendPart(c, end, true)
}

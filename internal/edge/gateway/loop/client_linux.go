package loop

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
)

// loopClient is a client's connection that a loop serves. Between two requests it has no
// buffers.
type loopClient struct {
	fd   int // -1 if closed or handed over
	peer exchange.Peer

	in      []byte    // received and not used
	out     []byte    // to be written
	written int       // of out
	moved   time.Time // when the client last took a part of out
	unsent  int       // bytes that the client had not acknowledged then, unmeasured before the sweep
	since   time.Time // of the phase: idle, or in a head

	x      *loopExchange // the request in progress, nil for none
	up     *loopRuntime  // its connection to the runtime, nil before it is sent
	tunnel *loopTunnel   // the websocket that the last request opened, nil for none
	number uint32        // of the request

	fresh    bool // before the first byte of the first request
	readable bool // there may be bytes to read
	waits    bool // in has a head and a part of its body
	behind   bool // in begins behind the last request: no request of it has begun
	ended    bool // the client has closed its sending side
	last     bool // close when out is written
	shut     bool // close the sending side when out is written
	reset    bool // close by a reset
	parting  bool // the client may be sending behind its last response
	queued   bool // in loop.turns
}

func (c *loopClient) ready(l *loop, events uint32) {
	l.current = c
	if events&(unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		l.gone(c)
		return
	}
	c.readable = c.readable || events&(unix.EPOLLIN|unix.EPOLLRDHUP) != 0
	if events&unix.EPOLLRDHUP != 0 && !c.ended {
		c.ended = true
		l.watchHalfClosed(c)
	}
	if events&unix.EPOLLOUT == 0 || l.flush(c) {
		l.proceed(c)
	}
}

// proceed does what the client's connection permits.
func (l *loop) proceed(c *loopClient) {
	if c.tunnel != nil {
		l.relayFrames(c)
		return
	}
	for turn := 0; c.fd >= 0 && len(c.out) == 0 && !c.last; turn++ {
		if c.x != nil {
			l.pump(c)
			return
		}
		if turn == loopTurns {
			l.turn(c)
			return
		}
		data, ok := l.receive(c)
		if !ok {
			return
		}
		l.begin(c, data)
	}
}

// receive returns what the client has sent and no request has used, and more than at the
// call before. The bytes are in l.in; the caller keeps the rest.
func (l *loop) receive(c *loopClient) (data []byte, ok bool) {
	n := copy(l.in, c.in)
	if c.behind {
		c.behind = false
		return l.in[:n], true
	}
	if !c.readable {
		return nil, false
	}
	k, err := recv(c.fd, l.in[n:])
	if errors.Is(err, unix.EAGAIN) {
		c.readable = false
		return nil, false
	}
	if k == 0 {
		l.gone(c)
		return nil, false
	}
	c.readable = k == len(l.in)-n || c.ended // a short read has taken all
	if n == 0 {
		c.since = l.now
	}
	c.fresh = false
	return l.in[:n+k], true
}

// keep stores what the client has sent for the next event.
func (c *loopClient) keep(data []byte) { c.in = append(c.in[:0], data...) }

// write sends b, and keeps what the client does not take yet. It reports false if the
// client has left; then the connection and its request have ended.
func (l *loop) write(c *loopClient, b []byte) bool {
	if c.x != nil {
		c.x.writes++
	}
	if len(c.out) > 0 {
		c.out = append(c.out, b...)
		return true
	}
	if len(b) == 0 {
		return true
	}
	n, err := send(c.fd, b)
	if err != nil {
		l.gone(c)
		return false
	}
	if n < len(b) {
		c.out, c.written = append(c.out, b[n:]...), 0
		c.moved, c.unsent = l.now, unmeasured
	}
	return true
}

// flush writes what was kept. It reports false if the connection has ended.
func (l *loop) flush(c *loopClient) bool {
	if len(c.out) == 0 {
		return true
	}
	n, err := send(c.fd, c.out[c.written:])
	if err != nil {
		l.gone(c)
		return false
	}
	if c.written += n; n > 0 {
		c.moved, c.unsent = l.now, unmeasured
	}
	if c.written < len(c.out) {
		return true
	}
	if c.out = c.out[:0]; c.x == nil {
		c.out = nil
	}
	if c.shut {
		_ = unix.Shutdown(c.fd, unix.SHUT_WR)
	}
	if c.last {
		l.part(c)
		return false
	}
	return true
}

// gone ends a connection and its request, because the client has left. A goroutine ends a
// request whose body has not arrived.
func (l *loop) gone(c *loopClient) {
	if c.waits {
		l.handOver(c, c.in)
		return
	}
	if x := c.x; x != nil {
		x.Status, x.ErrCode = exchange.StatusClientGone, ""
		l.account(c)
	}
	l.closeClient(c)
}

// closeWhenSent closes the connection as soon as the client has taken the response.
func (l *loop) closeWhenSent(c *loopClient) {
	if c.last = true; len(c.out) == 0 {
		l.part(c)
	}
}

// part closes the connection of a client that has its last response. If the client may be
// sending, a goroutine drops that first.
func (l *loop) part(c *loopClient) {
	if !c.parting || c.ended || c.fd < 0 {
		l.closeClient(c)
		return
	}
	if k := l.detach(c, nil); k != nil {
		k.OnlyPart()
		l.e.StartConn(l.ctx, k)
	}
}

func (l *loop) closeClient(c *loopClient) {
	if c.fd < 0 {
		return
	}
	if c.reset {
		dropUnsent(c.fd)
	}
	l.closeFD(c.fd)
	c.fd, c.in, c.out = -1, nil, nil
	l.disown(c)
	if c.tunnel != nil {
		l.forgetTunnel(c)
	}
}

package loop

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/http1"
)

// loopTunnel is a websocket in a loop. Between two events it has no buffers.
type loopTunnel struct {
	conn.Tunnel
	downEnded bool // no frame of the worker follows
}

// upgrade forwards the response that opens a websocket; first holds the bytes behind it.
// The claim ends here, as in package conn.
func (l *loop) upgrade(c *loopClient, first []byte) {
	x, up, t := c.x, c.up, &loopTunnel{}
	x.Status = x.Resp.Status
	t.Wake = func() { l.post(func() { l.endTunnel(c, t) }) }
	c.tunnel = t
	l.out = append(x.AppendUpgrade(l.out[:0]), first...)
	l.e.OpenTunnel(&t.Tunnel, &x.Claim, first)
	if !l.write(c, l.out) {
		return
	}
	c.up = nil
	l.account(c)
	c.up = up
	early := c.in
	c.in = nil
	if len(early) == 0 || l.passUp(c, early) {
		l.relayFrames(c)
	}
}

// relayFrames copies both directions as far as their receivers take the bytes.
func (l *loop) relayFrames(c *loopClient) {
	for range loopTurns {
		up := l.copyUp(c)
		if c.tunnel == nil {
			return
		}
		down := l.copyDown(c)
		if c.tunnel == nil || !up && !down {
			return
		}
	}
	l.turn(c)
}

// copyUp forwards frames of the client. It reports whether there may be more.
func (l *loop) copyUp(c *loopClient) bool {
	if !c.readable || len(c.up.out) > 0 {
		return false
	}
	n, err := recv(c.fd, l.in)
	if errors.Is(err, unix.EAGAIN) {
		c.readable = false
		return false
	}
	if n == 0 {
		l.hangUp(c)
		return false
	}
	c.readable = n == len(l.in) || c.ended
	return l.passUp(c, l.in[:n]) && c.readable
}

// passUp forwards a part of the client's frames. After the gateway's own close frame the
// websocket ends with the client's close frame. It reports whether the websocket is open.
func (l *loop) passUp(c *loopClient, b []byte) bool {
	t := c.tunnel
	t.Up.Next(b)
	t.Bye.Store(t.Up.Closed())
	if c.up.fd >= 0 {
		n, err := send(c.up.fd, b)
		if err != nil && !t.Closed.Load() {
			l.hangUp(c)
			return false
		}
		if err == nil {
			l.keepUnsent(c.up, b[n:])
		}
	}
	if t.Ending.Load() && t.Up.Closed() {
		l.hangUp(c)
		return false
	}
	return true
}

// hangUp ends a websocket whose client sends no more. A client that still reads receives a
// close frame, if it has none.
func (l *loop) hangUp(c *loopClient) {
	t := c.tunnel
	if !t.downEnded && !t.Down.Closed() && t.Down.Boundary() && !l.sendClose(c, nil) {
		return
	}
	l.closeWhenSent(c)
}

// copyDown forwards frames of the worker until the worker closes its connection or the
// websocket is to end. It reports whether there may be more.
func (l *loop) copyDown(c *loopClient) bool {
	t, up := c.tunnel, c.up
	if !up.readable || len(c.out) > 0 || t.downEnded {
		return false
	}
	n, err := recv(up.fd, l.buf[:loopRead])
	if errors.Is(err, unix.EAGAIN) {
		up.readable = false
		return false
	}
	up.readable = n == loopRead || up.ended
	b := l.buf[:n]
	whole := t.Down.Next(b)
	switch {
	case (t.Ending.Load() || n == 0) && !t.Down.Closed() && (whole > 0 || t.Down.Boundary()):
		if l.sendClose(c, b[:whole]) {
			l.endDown(c)
		}
		return false
	case n == 0:
		l.endDown(c)
		return false
	}
	t.Closed.Store(t.Down.Closed())
	return l.write(c, b) && up.readable
}

// sendClose sends the gateway's close frame behind b. It reports false if the client has
// left.
func (l *loop) sendClose(c *loopClient, b []byte) bool {
	c.tunnel.Ending.Store(true)
	c.tunnel.Closed.Store(true)
	l.out = http1.AppendClose(append(l.out[:0], b...), conn.CloseCode, conn.CloseReason)
	return l.write(c, l.out)
}

// endDown leaves the client CloseTime to answer a close frame.
func (l *loop) endDown(c *loopClient) {
	t := c.tunnel
	t.downEnded = true
	if t.Closed.Load() && t.Bye.Load() { // both sides have sent a close frame
		l.closeWhenSent(c)
		return
	}
	l.after(conn.CloseTime, c, func() { l.closeClient(c) })
	if t.Closed.Load() && !t.Ending.Load() {
		if c.shut = true; len(c.out) == 0 {
			_ = unix.Shutdown(c.fd, unix.SHUT_WR)
		}
	}
}

// after calls f after a time, if the websocket of c is still open.
func (l *loop) after(d time.Duration, c *loopClient, f func()) {
	t := c.tunnel
	time.AfterFunc(d, func() {
		l.post(func() {
			if c.tunnel == t {
				l.current = c
				f()
			}
		})
	})
}

// endTunnel is what tunnel.end asks for: a close frame between two frames.
func (l *loop) endTunnel(c *loopClient, t *loopTunnel) {
	l.current = c
	switch {
	case c.tunnel != t || t.downEnded:
	case t.Down.Closed():
		l.endDown(c)
	case t.Down.Boundary():
		if l.sendClose(c, nil) {
			l.endDown(c)
		}
	default: // wait for the rest of the frame
		l.after(conn.CloseTime, c, func() {
			if !t.downEnded {
				l.endDown(c)
			}
		})
	}
}

// forgetTunnel ends the websocket of a client whose connection is closed.
func (l *loop) forgetTunnel(c *loopClient) {
	t := c.tunnel
	c.tunnel = nil
	l.closeRuntime(c.up)
	c.up = nil
	l.e.CloseTunnel(&t.Tunnel)
}

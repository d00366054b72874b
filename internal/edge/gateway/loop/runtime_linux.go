package loop

import (
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/svc"
)

// loopRuntime is a connection of a loop to a runtime.
type loopRuntime struct {
	fd       int // -1 if closed or handed over
	of       *route.Upstream
	client   *loopClient // whose request it serves, nil for a spare connection
	since    time.Time   // when it became spare
	out      []byte      // to be written
	readable bool        // there may be bytes to read
	ended    bool        // the runtime has closed it
	reused   bool
}

func (up *loopRuntime) ready(l *loop, events uint32) {
	l.current = up.client
	up.readable = up.readable || events&^unix.EPOLLOUT != 0
	up.ended = up.ended || events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0
	if up.client == nil { // a runtime has nothing to say on a spare connection
		l.removeSpare(up)
		return
	}
	if len(up.out) > 0 {
		l.flushRuntime(up)
	}
	l.proceed(up.client)
}

// ask sends the request of a client to its runtime. A request of which nothing was sent is
// handed over if the runtime cannot be reached, and waits there.
func (l *loop) ask(c *loopClient) {
	x := c.x
	for {
		up, err := l.connect(x.Claim.Upstream, x.again)
		if err != nil {
			l.handOver(c, nil)
			return
		}
		n, err := send(up.fd, x.head)
		if err == nil {
			up.client, c.up = c, up
			l.keepUnsent(up, x.head[n:])
			return
		}
		l.closeRuntime(up)
		if x.again || !up.reused {
			l.handOver(c, nil)
			return
		}
		x.again = true
	}
}

// askAgain sends a request again that the runtime has not read. It reports whether it may.
func (l *loop) askAgain(c *loopClient, err error) bool {
	x := c.x
	if x.again || !c.up.reused || !x.Unseen(err) {
		return false
	}
	l.closeRuntime(c.up)
	x.again, c.up = true, nil
	l.ask(c)
	return true
}

// connect returns a spare connection to a runtime, or a new one if none is spare or fresh
// is set.
func (l *loop) connect(u *route.Upstream, fresh bool) (*loopRuntime, error) {
	if fresh {
		l.prune(u, true) // the runtime has probably closed all spare ones
	}
	if list := l.spares[u]; len(list) > 0 {
		up := list[len(list)-1]
		l.spares[u] = list[:len(list)-1]
		up.reused = true
		return up, nil
	}
	fd, err := connectUnix(u.Socket)
	if err != nil {
		return nil, err
	}
	up := &loopRuntime{fd: fd, of: u}
	if err := l.add(fd, up, runtimeEvents); err != nil {
		l.closeRuntime(up)
		return nil, err
	}
	return up, nil
}

// release makes the connection of a response that is complete a spare one.
func (l *loop) release(up *loopRuntime) {
	list := l.spares[up.of]
	if up.ended || len(up.out) > 0 || len(list) == route.MaxIdle || up.of.IsClosed() {
		l.closeRuntime(up)
		return
	}
	up.client, up.since = nil, l.now
	l.spares[up.of] = append(list, up)
}

func (l *loop) closeRuntime(up *loopRuntime) {
	if up.fd >= 0 {
		l.closeFD(up.fd)
		up.fd, up.client = -1, nil
	}
}

func (l *loop) removeSpare(up *loopRuntime) {
	list := l.spares[up.of]
	for i := range list {
		if list[i] == up {
			l.spares[up.of] = append(list[:i], list[i+1:]...)
			break
		}
	}
	l.closeRuntime(up)
}

// prune closes the spare connections to a runtime that were not used within IdleLimit, or
// all of them.
func (l *loop) prune(u *route.Upstream, all bool) {
	list, n := l.spares[u], 0
	for n < len(list) && (all || l.now.Sub(list[n].since) > route.IdleLimit) {
		l.closeRuntime(list[n])
		n++
	}
	if n == len(list) {
		delete(l.spares, u)
		return
	}
	l.spares[u] = append(list[:0], list[n:]...)
}

// keepUnsent keeps what the runtime does not take yet.
func (l *loop) keepUnsent(up *loopRuntime, rest []byte) {
	if len(rest) > 0 {
		up.out = append(up.out, rest...)
		_ = l.control(unix.EPOLL_CTL_MOD, up.fd, runtimeEvents|unix.EPOLLOUT)
	}
}

// flushRuntime writes what was kept.
func (l *loop) flushRuntime(up *loopRuntime) {
	n, err := send(up.fd, up.out)
	if err != nil {
		up.out, up.readable = nil, true // the next read reports the failure
		return
	}
	if up.out = append(up.out[:0], up.out[n:]...); len(up.out) == 0 {
		_ = l.control(unix.EPOLL_CTL_MOD, up.fd, runtimeEvents)
	}
}

// failed deals with the end of the connection to the runtime: of a response that it ends,
// or of a request that failed. err is nil at the end of the input.
func (l *loop) failed(c *loopClient, err error) {
	x := c.x
	switch {
	case x.replied && x.from == exchange.ByClose && err == nil:
		l.endStream(c)
	case x.replied:
		l.breakOff(c)
	case err == nil:
		l.fail(c, io.ErrUnexpectedEOF)
	case !l.askAgain(c, err):
		l.fail(c, err)
	}
}

// fail answers that the runtime has failed.
func (l *loop) fail(c *loopClient, err error) {
	l.closeRuntime(c.up)
	l.refuse(c, exchange.ErrBroken(err))
}

// breakOff ends a response that ended early.
func (l *loop) breakOff(c *loopClient) {
	x := c.x
	x.ErrCode = svc.CodeRuntimeUnavailable
	c.reset = x.to == exchange.ByClose
	l.account(c)
	l.closeWhenSent(c)
}

package loop

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
)

// handOver gives the connection of a client to a goroutine, with what the client has sent
// and no request has used: data, or the request in progress, which the goroutine begins
// again.
func (l *loop) handOver(c *loopClient, data []byte) {
	if x := c.x; x != nil {
		data = slices.Concat(x.raw, x.head[len(x.head)-x.body:], c.in)
		l.dropExchange(c)
		l.recycle(x)
	}
	if k := l.detach(c, data); k != nil {
		l.e.StartConn(l.ctx, k)
	}
}

// detach takes the connection of a client out of the loop, nil if that fails.
func (l *loop) detach(c *loopClient, data []byte) *conn.Conn {
	fd := c.fd
	l.forget(fd)
	c.fd, c.out = -1, nil
	nc, err := netConn(fd)
	if err != nil {
		l.e.Config.Logger.WarnContext(l.ctx, "serving a connection failed", "error", err)
		l.disown(c)
		return nil
	}
	l.clients.Add(-1)
	return l.e.Adopt(nc, c.peer, data, l.takeBack)
}

// handOverResponse gives the connections of a client and of its runtime to a goroutine,
// which sends the response. b begins with its head, of n bytes.
func (l *loop) handOverResponse(c *loopClient, b []byte, n int) {
	x, up := c.x, c.up
	l.forget(up.fd)
	nc, err := netConn(up.fd)
	up.fd = -1
	if err != nil {
		l.fail(c, err)
		return
	}
	k := l.detach(c, c.in)
	if k == nil {
		_ = nc.Close()
		l.dropExchange(c)
		return
	}
	k.ContinueWith(&x.Request, nc, up.reused, b, n)
	c.x, c.up = nil, nil
	l.e.StartConn(l.ctx, k)
}

// takeBack serves a connection again that was handed over, if it is between two requests.
// It reports whether the caller must leave the connection.
func (l *loop) takeBack(k *conn.Conn) bool {
	tcp := k.Unused()
	if tcp == nil {
		return false
	}
	fd, err := dupOf(tcp)
	if err != nil {
		return false
	}
	if !k.Lend() {
		_ = unix.Close(fd)
		return true
	}
	c := &loopClient{fd: fd, peer: k.Client()}
	l.clients.Add(1)
	l.e.Connected()
	if !l.post(func() { l.adopt(c) }) {
		_ = unix.Close(fd)
		l.disown(c)
	}
	return true
}

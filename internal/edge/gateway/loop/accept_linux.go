package loop

import (
	"errors"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/lib/clientlimit"
)

const (
	// acceptMax is the maximum number of connections of one event.
	acceptMax = 4
	// acceptSlack is the number of connections that a loop may have more than twice those
	// of another one. Above it, the other one gets a new connection, which wakes it.
	acceptSlack = 8
)

// The parameters of keep-alive probes, as package net sets them, in seconds.
const keepAliveIdle, keepAliveInterval, keepAliveCount = 15, 15, 9

// share returns the descriptor of a listener, for a number of loops. Accepted connections
// inherit the options that it sets.
func share(ln *net.TCPListener, users int) (*sharedFD, error) {
	fd, err := dupOf(ln)
	if err != nil {
		return nil, err
	}
	for _, option := range [...][3]int{
		{unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
		{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, keepAliveIdle},
		{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, keepAliveInterval},
		{unix.IPPROTO_TCP, unix.TCP_KEEPCNT, keepAliveCount},
	} {
		if err := unix.SetsockoptInt(fd, option[0], option[1], option[2]); err != nil {
			return nil, errors.Join(err, unix.Close(fd))
		}
	}
	s := &sharedFD{fd: fd}
	s.users.Store(int32(users)) //nolint:gosec // G115: a number of processors
	return s, nil
}

// listen accepts connections from a listener until the loop stops.
func (l *loop) listen(s *sharedFD) {
	if l.closing {
		s.release()
		return
	}
	l.listeners = append(l.listeners, s)
	l.await(s)
}

// await registers a listener. Of the loops that wait, the kernel wakes one.
func (l *loop) await(s *sharedFD) {
	if err := l.add(s.fd, acceptor{s}, unix.EPOLLIN|unix.EPOLLEXCLUSIVE); err != nil {
		l.e.Config.Logger.ErrorContext(l.ctx, "accepting connections failed", "error", err)
	}
}

// acceptor receives the event that connections wait.
type acceptor struct{ from *sharedFD }

func (a acceptor) ready(l *loop, _ uint32) {
	for range acceptMax {
		fd, addr, err := unix.Accept4(a.from.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch {
		case err == nil:
			l.admit(fd, addr)
		case errors.Is(err, unix.EAGAIN):
			return
		case errors.Is(err, unix.ECONNABORTED), errors.Is(err, unix.EINTR):
		default: // most often no free file descriptor: open connections continue
			l.e.Config.Logger.WarnContext(l.ctx, "accepting a connection failed; retrying", "error", err)
			l.pause(a.from)
			return
		}
	}
}

// pause accepts no connections for AcceptRetry.
func (l *loop) pause(s *sharedFD) {
	l.forget(s.fd)
	time.AfterFunc(conn.AcceptRetry, func() {
		l.post(func() {
			if !l.closing {
				l.await(s)
			}
		})
	})
}

// admit begins to serve a new connection, unless there are too many.
func (l *loop) admit(fd int, from unix.Sockaddr) {
	addr := tcpAddr(from)
	c := &loopClient{fd: fd, peer: l.e.PeerOf(addr), fresh: true}
	if v := l.e.Enter(&c.peer, addr, func() bool { return l.evict() || l.e.Evict() }); v != clientlimit.Admitted {
		l.refuseClient(c, v)
		return
	}
	to := l
	for _, other := range l.e.list() {
		if 2*other.clients.Load()+acceptSlack < to.clients.Load() {
			to = other
		}
	}
	to.clients.Add(1)
	l.e.Connected()
	if to == l {
		l.adopt(c)
	} else if !to.post(func() { to.adopt(c) }) {
		to.disown(c)
		_ = unix.Close(fd)
	}
}

func tcpAddr(from unix.Sockaddr) *net.TCPAddr {
	switch a := from.(type) {
	case *unix.SockaddrInet4:
		return &net.TCPAddr{IP: a.Addr[:], Port: a.Port}
	case *unix.SockaddrInet6:
		return &net.TCPAddr{IP: a.Addr[:], Port: a.Port}
	}
	return &net.TCPAddr{}
}

func (l *loop) refuseClient(c *loopClient, v clientlimit.Verdict) {
	nc, err := netConn(c.fd)
	if err != nil {
		return
	}
	l.e.WarnRefused(l.ctx, v, &c.peer)
	l.e.TurnAway(l.ctx, nc, &c.peer)
}

// adopt serves a connection that counts in l.clients.
func (l *loop) adopt(c *loopClient) {
	c.since, c.readable = l.now, true // most clients send immediately
	if l.closing && !c.fresh || l.aborted || l.add(c.fd, c, clientEvents) != nil {
		l.closeClient(c)
		return
	}
	l.dispatch(c, 0)
}

// disown ends the count of a connection.
func (l *loop) disown(c *loopClient) {
	l.clients.Add(-1)
	l.e.Leave(&c.peer)
}

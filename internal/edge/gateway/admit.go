package gateway

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/lib/clientlimit"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// maxRefusals is the maximum number of refused connections that wait until the
	// client has read the refusal; further ones are reset.
	maxRefusals = 64
	// evictAge is the minimum time without a request before an idle connection is
	// closed in favor of a new one.
	evictAge = time.Second
	// acceptRetry is the time after an accept that failed.
	acceptRetry = 100 * time.Millisecond
	// evictSample is the number of connections among which an idle one is searched.
	evictSample = 64
	// warnEvery is the time between two warnings about refused connections.
	warnEvery = time.Minute
)

// admit counts the connection nc of p. If there are too many it closes an idle one, or
// answers nc with 503 and reports false.
func (s *Server) admit(ctx context.Context, nc net.Conn, p *peer) bool {
	_, p.https = nc.(Encrypted)
	verdict := s.enter(p, nc.RemoteAddr(), s.makeRoom)
	if verdict == clientlimit.Admitted {
		return true
	}
	s.warnRefused(ctx, verdict, p)
	s.turnAway(ctx, nc, p)
	return false
}

// enter counts the connection of p, whose address is from. If there are too many, it
// calls evict to close an idle one.
func (s *Server) enter(p *peer, from net.Addr, evict func() bool) clientlimit.Verdict {
	p.key = clientlimit.Client(from, func(ip netip.Addr) bool { return p.isProxy(ip) })
	verdict := s.clients.Enter(p.key)
	for try := 0; verdict == clientlimit.TooMany && try < 3 && evict(); try++ {
		verdict = s.clients.Enter(p.key)
	}
	return verdict
}

// turnAway answers a connection that is not admitted with 503. If too many are being
// answered, it resets the connection. It does not wait.
func (s *Server) turnAway(ctx context.Context, nc net.Conn, p *peer) {
	select {
	case s.refusals <- struct{}{}:
		s.running.Go(func() {
			defer func() { <-s.refusals }()
			s.refuseConn(ctx, nc, p)
		})
	default:
		c := &client{Conn: nc, cfg: &s.cfg}
		c.resetOnClose()
		_ = nc.Close()
	}
}

// refuseConn answers a connection, whatever it sends, and closes it.
func (s *Server) refuseConn(ctx context.Context, nc net.Conn, p *peer) {
	defer nc.Close()
	var x request
	x.start = time.Now()
	x.unreadable()
	e := s.refusal(ctx, &x, errTooManyConnections())
	_ = nc.SetWriteDeadline(time.Now().Add(stoppingTime))
	if _, err := nc.Write(x.appendRefusal(nil, e, false)); err == nil {
		l := s.linger()
		l.Time = stoppingTime // few wait at a time: maxRefusals
		l.CloseWrite(nc, make([]byte, 4<<10))
	}
	s.account(ctx, &x, p, time.Now())
}

// warnRefused logs a refused connection, at most once per warnEvery.
func (s *Server) warnRefused(ctx context.Context, v clientlimit.Verdict, p *peer) {
	now := time.Now().UnixNano()
	last := s.warned.Load()
	if now-last < int64(warnEvery) || !s.warned.CompareAndSwap(last, now) {
		return
	}
	setting, limit := "SVC_MAX_CONNECTIONS", s.cfg.MaxConns
	if v == clientlimit.TooManyOfOne {
		setting, limit = "SVC_MAX_CONNECTIONS_PER_CLIENT", s.cfg.MaxConnsPerClient
	}
	s.cfg.Logger.WarnContext(ctx, "connection limit reached; refusing connections", "setting", setting, "limit", limit, "client", p.ip)
}

// leave ends the count of an admitted connection.
func (s *Server) leave(p *peer) { s.clients.Leave(p.key) }

// Connections is the number of open connections of clients.
func (s *Server) Connections() int { return s.clients.Count() }

func errTooManyConnections() *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeTooManyConnections, "the server has too many open connections").After(retrySoon)
}

// some returns at most n elements of a set, in random order.
func some[T comparable](set map[T]struct{}, n int) []T {
	list := make([]T, 0, min(n, len(set)))
	for v := range set {
		if len(list) == n {
			break
		}
		list = append(list, v)
	}
	return slices.Clip(list)
}

// Encrypted is a connection whose visitor uses https: its Read and Write carry what was
// encrypted.
type Encrypted interface {
	net.Conn
	// Encrypted marks the connection.
	Encrypted()
}

package conn

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/lib/clientlimit"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// maxRefusals is the maximum number of refused connections that wait until the
	// client has read the refusal; further ones are reset.
	maxRefusals = 64
	// EvictAge is the minimum time without a request before an idle connection is
	// closed in favor of a new one.
	EvictAge = time.Second
	// AcceptRetry is the time after an accept that failed.
	AcceptRetry = 100 * time.Millisecond
	// EvictSample is the number of connections among which an idle one is searched.
	EvictSample = 64
	// warnEvery is the time between two warnings about refused connections.
	warnEvery = time.Minute
)

// Admit counts the connection nc of p. If there are too many it closes an idle one, or
// answers nc with 503 and reports false.
func (s *Server) Admit(ctx context.Context, nc net.Conn, p *exchange.Peer) bool {
	_, p.HTTPS = nc.(Encrypted)
	verdict := s.Enter(p, nc.RemoteAddr(), s.MakeRoom)
	if verdict == clientlimit.Admitted {
		return true
	}
	s.WarnRefused(ctx, verdict, p)
	s.TurnAway(ctx, nc, p)
	return false
}

// Enter counts the connection of p, whose address is from. If there are too many, it
// calls evict to close an idle one.
func (s *Server) Enter(p *exchange.Peer, from net.Addr, evict func() bool) clientlimit.Verdict {
	p.Key = clientlimit.Client(from, func(ip netip.Addr) bool { return p.IsProxy(ip) })
	verdict := s.clients.Enter(p.Key)
	for try := 0; verdict == clientlimit.TooMany && try < 3 && evict(); try++ {
		verdict = s.clients.Enter(p.Key)
	}
	return verdict
}

// TurnAway answers a connection that is not admitted with 503. If too many are being
// answered, it resets the connection. It does not wait.
func (s *Server) TurnAway(ctx context.Context, nc net.Conn, p *exchange.Peer) {
	select {
	case s.refusals <- struct{}{}:
		s.Running.Go(func() {
			defer func() { <-s.refusals }()
			s.refuseConn(ctx, nc, p)
		})
	default:
		c := &Client{Conn: nc, Config: &s.Config}
		c.resetOnClose()
		_ = nc.Close()
	}
}

// refuseConn answers a connection, whatever it sends, and closes it.
func (s *Server) refuseConn(ctx context.Context, nc net.Conn, p *exchange.Peer) {
	defer nc.Close()
	var x exchange.Request
	x.Start = time.Now()
	x.Unreadable()
	e := s.Refusal(ctx, &x, errTooManyConnections())
	_ = nc.SetWriteDeadline(time.Now().Add(stoppingTime))
	if _, err := nc.Write(x.AppendRefusal(nil, e, false)); err == nil {
		l := s.Linger()
		l.Time = stoppingTime // few wait at a time: maxRefusals
		l.CloseWrite(nc, make([]byte, 4<<10))
	}
	s.Account(ctx, &x, p, time.Now())
}

// WarnRefused logs a refused connection, at most once per warnEvery.
func (s *Server) WarnRefused(ctx context.Context, v clientlimit.Verdict, p *exchange.Peer) {
	now := time.Now().UnixNano()
	last := s.warned.Load()
	if now-last < int64(warnEvery) || !s.warned.CompareAndSwap(last, now) {
		return
	}
	setting, limit := "SVC_MAX_CONNECTIONS", s.Config.MaxConns
	if v == clientlimit.TooManyOfOne {
		setting, limit = "SVC_MAX_CONNECTIONS_PER_CLIENT", s.Config.MaxConnsPerClient
	}
	s.Config.Logger.WarnContext(ctx, "connection limit reached; refusing connections", "setting", setting, "limit", limit, "client", p.IP)
}

// Leave ends the count of an admitted connection.
func (s *Server) Leave(p *exchange.Peer) { s.clients.Leave(p.Key) }

// Connections is the number of open connections of clients.
func (s *Server) Connections() int { return s.clients.Count() }

func errTooManyConnections() *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeTooManyConnections, "the server has too many open connections").After(route.RetrySoon)
}

// Sample returns at most n elements of a set, in random order.
func Sample[T comparable](set map[T]struct{}, n int) []T {
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

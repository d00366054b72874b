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
func (g *Gateway) admit(ctx context.Context, nc net.Conn, p *peer) bool {
	_, p.https = nc.(Encrypted)
	verdict := g.enter(p, nc.RemoteAddr(), g.engine.evict)
	if verdict == clientlimit.Admitted {
		return true
	}
	g.warnRefused(ctx, verdict, p)
	g.turnAway(ctx, nc, p)
	return false
}

// enter counts the connection of p, whose address is from. If there are too many, it
// calls evict to close an idle one.
func (g *Gateway) enter(p *peer, from net.Addr, evict func() bool) clientlimit.Verdict {
	p.key = clientlimit.Client(from, func(ip netip.Addr) bool { return contains(p.by.proxies, ip) })
	verdict := g.clients.Enter(p.key)
	for try := 0; verdict == clientlimit.TooMany && try < 3 && evict(); try++ {
		verdict = g.clients.Enter(p.key)
	}
	return verdict
}

// turnAway answers a connection that is not admitted with 503. If too many are being
// answered, it resets the connection. It does not wait.
func (g *Gateway) turnAway(ctx context.Context, nc net.Conn, p *peer) {
	select {
	case g.refusals <- struct{}{}:
		g.running.Go(func() {
			defer func() { <-g.refusals }()
			g.refuseConn(ctx, nc, p)
		})
	default:
		c := &client{Conn: nc, cfg: &g.cfg}
		c.resetOnClose()
		_ = nc.Close()
	}
}

// refuseConn answers a connection, whatever it sends, and closes it.
func (g *Gateway) refuseConn(ctx context.Context, nc net.Conn, p *peer) {
	defer nc.Close()
	x := request{start: time.Now()}
	x.unreadable()
	e := g.refusal(ctx, &x, errTooManyConnections())
	_ = nc.SetWriteDeadline(time.Now().Add(stoppingTime))
	if _, err := nc.Write(x.appendRefusal(nil, e, false)); err == nil {
		l := g.linger()
		l.Time = stoppingTime // few wait at a time: maxRefusals
		l.CloseWrite(nc, make([]byte, 4<<10))
	}
	g.account(ctx, &x, p, time.Now())
}

// warnRefused logs a refused connection, at most once per warnEvery.
func (g *Gateway) warnRefused(ctx context.Context, v clientlimit.Verdict, p *peer) {
	now := time.Now().UnixNano()
	last := g.warned.Load()
	if now-last < int64(warnEvery) || !g.warned.CompareAndSwap(last, now) {
		return
	}
	setting, limit := "SVC_MAX_CONNECTIONS", g.cfg.MaxConns
	if v == clientlimit.TooManyOfOne {
		setting, limit = "SVC_MAX_CONNECTIONS_PER_CLIENT", g.cfg.MaxConnsPerClient
	}
	g.cfg.Logger.WarnContext(ctx, "connection limit reached; refusing connections", "setting", setting, "limit", limit, "client", p.ip)
}

// leave ends the count of an admitted connection.
func (g *Gateway) leave(p *peer) { g.clients.Leave(p.key) }

// Connections is the number of open connections of clients.
func (g *Gateway) Connections() int { return g.clients.Count() }

// isFull reports whether the runtime u serves as many requests and websockets as it
// may, the caller's claim included.
func (g *Gateway) isFull(u *upstream) bool {
	n := u.count() + u.tunnels.Load()
	if u.delegated != nil {
		used := u.delegated.machine.Used()
		n += int64(used.inProgress()+used.Websockets) - u.grants.Load()
	}
	return n > int64(g.cfg.MaxConnsPerVersion)
}

func errTooManyConnections() *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeTooManyConnections, "the server has too many open connections").After(retrySoon)
}

func errVersionBusy(v *version) *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeTooManyConnections, "version %s of %s serves too many requests at the same time", v.ref.Version, v.ref.Project).
		After(retrySoon)
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

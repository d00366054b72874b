package gateway

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/svcctl/svcctl/internal/server/gateway/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// statusClientGone is observed for a client that left before its answer.
	statusClientGone = 499
	// maxClaims bounds how often one request looks for a runtime.
	maxClaims = 3
	// crashWait is how long a request waits, after a runtime refused its
	// connection, for the supervisor to notice.
	crashWait = 300 * time.Millisecond
)

// request is one request as every engine knows it: the heads of question and
// answer, the claim, and the outcome.
type request struct {
	req   http1.Request
	resp  http1.Response
	start time.Time
	meta  meta
	claim claim

	status  int    // what was answered
	errCode string // of an answer of the gateway itself
}

// waiter watches a client while its request waits for a runtime.
type waiter interface {
	// wait waits for ch, at most d. It returns nil when ch is closed,
	// errTimeout, errClientGone or errClosing.
	wait(ch <-chan struct{}, d time.Duration) error
}

// forward claims the runtime that x is for and has the engine send x to it;
// send returns when the head of the answer is in x.resp. On success the claim
// is held. Every request of every engine goes this way, so nothing reaches a
// runtime that was not claimed before.
func (g *Gateway) forward(x *request, w waiter, send func() error) error {
	for try := 1; ; try++ {
		if err := g.take(x, w); err != nil {
			return err
		}
		err := send()
		if err == nil {
			return nil
		}
		x.claim.release()
		switch {
		case !errors.Is(err, errUnreachable):
			return err
		case try == maxClaims:
			return errBroken(err)
		}
		if werr := w.wait(x.claim.version.replaced, crashWait); werr != nil && !errors.Is(werr, errTimeout) {
			return werr
		}
	}
}

// account observes and logs a finished request.
func (g *Gateway) account(ctx context.Context, x *request, p *peer, now time.Time) {
	took := now.Sub(x.start)
	if g.cfg.Observer != nil {
		g.observe(Observation{x.claim.ref(), x.claim.role, x.status, x.errCode, took})
	}
	if !g.cfg.Logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	ref := x.claim.ref()
	g.cfg.Logger.DebugContext(ctx, "request",
		"method", string(x.req.Method), "host", string(x.req.Host), "project", ref.Project, "version", ref.Version,
		"role", string(x.claim.role), "status", x.status, "error", x.errCode, "duration", took,
		"peer", p.ip, "request_id", string(x.meta.id))
}

// claim is a request's hold on a runtime.
type claim struct {
	version  *version
	upstream *upstream // nil when nothing is held
	epoch    *epoch    // of the production host
	role     svc.Role
	selector bool // found by a deprecated path selector [D4]
}

func (cl *claim) ref() svc.Ref {
	if cl.version == nil {
		return svc.Ref{}
	}
	return cl.version.ref
}

// release gives the claim back. It may be called again.
func (cl *claim) release() {
	if cl.upstream != nil {
		cl.version.stats.of(cl.role).inflight.Add(-1)
		cl.upstream.release()
		cl.upstream = nil
	}
	cl.leave()
}

// leave gives the place in the production host's epoch back.
func (cl *claim) leave() {
	if cl.epoch != nil {
		cl.epoch.release()
		cl.epoch = nil
	}
}

package gateway

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/svcctl/svcctl/internal/edge/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

// StatusClientGone is the status of a request whose client closed its connection before
// the response.
const StatusClientGone = 499

const (
	// maxClaims is the maximum number of claims of one request.
	maxClaims = 3
	// crashWait is the time for which a request waits, after a runtime refused its
	// connection, until the supervisor detects the crash.
	crashWait = 300 * time.Millisecond
)

// request is the part of a request that every engine shares: the heads of request
// and response, the claim, and the result.
type request struct {
	req   http1.Request
	resp  http1.Response
	start time.Time
	meta  meta
	claim claim
	call  *svc.Ref // of a call of another worker; nil for a visitor's request

	inLoop bool // it may not wait for a disk: take returns errBlocks instead

	compressor *compressor // of the response's body, nil to send it unchanged
	vary       bool        // the response depends on Accept-Encoding
	asset      asset       // the response, if it is a static file and not of a runtime

	status  int    // of the response
	sent    int64  // bytes of its body that the client's connection took
	failed  bool   // the worker threw
	errCode string // of a response of the gateway itself
}

// waiter observes a client while its request waits for a runtime.
type waiter interface {
	// wait waits for ch, at most d. It returns nil when ch is closed, else
	// errTimeout, errClientGone or errClosing.
	wait(ch <-chan struct{}, d time.Duration) error
}

// forward claims the runtime of x and calls send, with which the engine sends x;
// send returns when the head of the response is in x.resp. A static file needs
// neither: its head is in x.resp, its body in x.asset. On success the claim is held.
//
// forward may wait, so an event loop does not call it: the loop calls take, which claims
// the runtime before the request is sent, as forward does, and hands a request that has to
// wait over to a goroutine, which calls forward.
func (g *Gateway) forward(x *request, w waiter, send func() error) error {
	patience := g.cfg.HoldTimeout // with a relay
	for try := 1; ; try++ {
		if err := g.take(x, w); err != nil {
			return err
		}
		if x.asset.is {
			return x.openAsset(&g.contents)
		}
		err := send()
		if err == nil {
			return nil
		}
		x.claim.leave() // not answered
		x.claim.release()
		switch {
		case !errors.Is(err, errUnreachable):
			return err
		case g.cfg.Relay != nil:
			if werr := g.awaitTable(x, w, err, &patience); werr != nil {
				return werr
			}
			continue
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
	g.requests.Add(1)
	if g.cfg.Observer != nil {
		g.observe(x.observation(took))
	}
	if g.cfg.Access != nil {
		g.cfg.Access(x.access(took, p))
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

// observation describes the finished request.
func (x *request) observation(took time.Duration) Observation {
	o := Observation{
		Ref: x.claim.ref(), Role: x.claim.role, Status: x.status, Error: x.errCode, Threw: x.failed, Start: x.start, Duration: took, Bytes: x.sent,
		ID: x.meta.traceparent[parentAt:parentEnd], Method: x.req.Method, Target: x.path(),
		Forwarded: x.claim.version != nil && x.claim.version.state.Through && x.errCode == "",
	}
	if x.meta.sampled {
		o.Trace = x.meta.traceparent[traceAt:traceEnd]
		if !x.meta.newTrace {
			o.Parent = x.meta.parent[:]
		}
	}
	if x.meta.named {
		o.ClientID = x.meta.id
	}
	return o
}

// access describes the finished request for an access log.
func (x *request) access(took time.Duration, p *peer) Access {
	return Access{
		Observation: x.observation(took), Client: x.clientAddress(p), Host: x.req.Host, Minor: x.req.Minor,
		Referer: x.req.Get("referer"), Agent: x.req.Get("user-agent"),
	}
}

// claim is the use of a runtime by a request.
type claim struct {
	version  *version
	upstream *upstream // nil if no runtime is claimed
	counted  bool      // in the stats of the version
	epoch    *epoch    // of the production host
	via      string    // the preview name that the host is of; "" for none
	role     svc.Role
	selector bool // found by a deprecated path selector [D4]
}

func (cl *claim) ref() svc.Ref {
	if cl.version == nil {
		return svc.Ref{}
	}
	return cl.version.ref
}

// release ends the claim. It may be called again.
func (cl *claim) release() {
	if cl.counted {
		cl.version.stats.of(cl.role).inflight.Add(-1)
		cl.counted = false
	}
	if cl.upstream != nil {
		cl.upstream.release()
		cl.upstream = nil
	}
	if cl.epoch != nil {
		cl.epoch.answered()
	}
	cl.leave()
}

// leave ends the membership in the production host's epoch.
func (cl *claim) leave() {
	if cl.epoch != nil {
		cl.epoch.release()
		cl.epoch = nil
	}
}

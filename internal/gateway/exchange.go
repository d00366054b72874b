package gateway

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/svcctl/svcctl/internal/gateway/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// bufferSize is the size of the buffers that bodies are copied through.
	bufferSize = 32 << 10
	// statusClientGone is what is observed when nobody waited for the answer.
	statusClientGone = 499
	// maxClaims bounds how often one request looks for a runtime.
	maxClaims = 3
	// crashWait is how long a request waits, after a runtime refused its
	// connection, for the supervisor to notice.
	crashWait = 300 * time.Millisecond
)

// exchange is one request and its answer. It is used again for others, with
// its memory; nothing of it may be kept.
type exchange struct {
	req   http1.Request
	resp  http1.Response
	start time.Time
	meta  meta
	claim claim

	upload  upload
	head    []byte // for the runtime: head, and the body as far as it had come
	buf     []byte // what comes from the runtime; see frameChunk for its margins
	out     []byte // for the client
	reply   int    // length of the answer's head in buf[headroom:]
	filled  int    // bytes of buf[headroom:] that hold something
	status  int    // what was answered
	errCode string // of an answer of the gateway itself
	began   bool   // some of the answer has been sent
}

func newExchange() *exchange {
	return &exchange{buf: make([]byte, headroom+bufferSize+tailroom), out: make([]byte, 0, 4<<10), head: make([]byte, 0, 4<<10)}
}

func (x *exchange) begin() {
	x.claim, x.meta = claim{}, meta{xff: x.meta.xff[:0], id: x.meta.id[:0], traceparent: x.meta.traceparent[:0]}
	x.head = x.head[:0]
	x.reply, x.filled, x.status, x.errCode, x.began = 0, 0, 0, "", false
}

// end drops what grew too big to be kept.
func (x *exchange) end() {
	const keep = 64 << 10
	if cap(x.head) > keep {
		x.head = make([]byte, 0, 4<<10)
	}
	if cap(x.out) > keep {
		x.out = make([]byte, 0, 4<<10)
	}
	if len(x.buf) > headroom+bufferSize+tailroom {
		x.buf = make([]byte, headroom+bufferSize+tailroom)
	}
}

// handle answers the request in x. It reports whether the connection can carry
// another one.
func (c *conn) handle(ctx context.Context, x *exchange) (keep bool) {
	x.start = c.now
	c.g.inflight.Add(1)
	defer c.g.inflight.Add(-1)
	defer x.claim.release() // at the latest
	x.inspect(&c.peer)
	x.upload.begin(&x.req)
	if err := c.forward(ctx, x); err != nil {
		keep = c.refuse(ctx, x, err)
	} else {
		keep = c.relay(ctx, x)
	}
	c.now = time.Now()
	c.account(ctx, x)
	return keep
}

// forward gets a response head from the runtime that the request is for. On
// success the claim is held and x.resp parsed.
func (c *conn) forward(ctx context.Context, x *exchange) error {
	for try := 1; ; try++ {
		if err := c.take(x); err != nil {
			return err
		}
		err := c.roundTrip(ctx, x)
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
		if werr := c.wait(x.claim.version.replaced, crashWait); werr != nil && !errors.Is(werr, errTimeout) {
			return werr
		}
	}
}

// account observes and logs a finished request.
func (c *conn) account(ctx context.Context, x *exchange) {
	took := c.now.Sub(x.start)
	if c.g.cfg.Observer != nil {
		c.g.observe(Observation{x.claim.ref(), x.claim.role, x.status, x.errCode, took})
	}
	if !c.g.cfg.Logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	ref := x.claim.ref()
	c.g.cfg.Logger.DebugContext(ctx, "request",
		"method", string(x.req.Method), "host", string(x.req.Host), "project", ref.Project, "version", ref.Version,
		"role", string(x.claim.role), "status", x.status, "error", x.errCode, "duration", took,
		"peer", c.peer.ip, "request_id", string(x.meta.id))
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

package conn

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
)

// BufferSize is the size of the buffers that bodies are copied through.
const BufferSize = 32 << 10

// connExchange is a request and its response in the engine go. It is pooled with its
// buffers: no reference to it may outlive the request.
type connExchange struct {
	exchange.Request

	upload upload
	head   []byte // for the runtime: the head, and the part of the body that has arrived
	buf    []byte // from the runtime; FrameChunk describes its margins
	out    []byte // for the client
	reply  int    // length of the response's head in buf[headroom:]
	filled int    // number of bytes in buf[headroom:]
	began  bool   // a part of the response was sent
	whole  bool   // all of it was sent
	keep   bool   // the response says that the client's connection stays open
}

func newExchange() *connExchange {
	return &connExchange{buf: make([]byte, Headroom+BufferSize+Tailroom), out: make([]byte, 0, 4<<10), head: make([]byte, 0, 4<<10)}
}

func (x *connExchange) begin() {
	x.Reset()
	x.head = x.head[:0]
	x.reply, x.filled = 0, 0
	x.began, x.whole, x.keep = false, false, false
}

// trim drops buffers that are too large to keep.
func (x *connExchange) trim() {
	const keep = 64 << 10
	if cap(x.head) > keep {
		x.head = make([]byte, 0, 4<<10)
	}
	if cap(x.out) > keep {
		x.out = make([]byte, 0, 4<<10)
	}
	if len(x.buf) > Headroom+BufferSize+Tailroom {
		x.buf = make([]byte, Headroom+BufferSize+Tailroom)
	}
}

// handle answers the request in x. It reports whether another request may follow on
// the connection.
func (c *Conn) handle(ctx context.Context, x *connExchange) (keep bool) {
	c.respond(ctx, x)
	return c.readRest(x)
}

func (c *Conn) respond(ctx context.Context, x *connExchange) {
	x.Start = c.now
	c.watch.gone = nil
	c.nc.Begin(&x.Request)
	c.g.InFlight.Add(1)
	defer c.over(x)
	x.Inspect(&c.peer)
	x.upload.begin(&x.Req)
	err := c.g.Forward(&x.Request, c, func() error { return c.roundTrip(ctx, x) })
	c.answer(ctx, x, err)
}

// over ends a request, at the latest: also after a panic.
func (c *Conn) over(x *connExchange) {
	x.CloseAsset()
	x.Claim.Release()
	c.g.InFlight.Add(-1)
}

// answer sends the response whose head is in x.Resp, or the error of Forward.
func (c *Conn) answer(ctx context.Context, x *connExchange, err error) {
	switch {
	case err != nil:
		c.refuse(ctx, x, err)
	case x.Static.Is:
		c.relayAsset(x)
	default:
		c.explain(ctx, x)
		c.relay(ctx, x)
	}
	c.now = time.Now()
	c.g.Account(ctx, &x.Request, &c.peer, c.now)
}

// reject answers a request whose head cannot be parsed, and abandons the connection:
// the start of the next request is unknown.
func (c *Conn) reject(ctx context.Context, x *connExchange, err error) bool {
	x.Start, x.upload.read = c.now, false
	x.Unreadable()
	c.refuse(ctx, x, exchange.BadRequest(err))
	c.g.Account(ctx, &x.Request, &c.peer, time.Now())
	return c.readRest(x)
}

// refuse answers with an error of the gateway itself [D44]. It sets x.whole and x.keep like
// relay.
func (c *Conn) refuse(ctx context.Context, x *connExchange, err error) {
	if errors.Is(err, route.ErrClientGone) {
		x.Status = exchange.StatusClientGone
		return
	}
	e := c.g.Refusal(ctx, &x.Request, err)
	x.keep = len(x.Req.Method) > 0 && c.keeps(x) && !c.isGone()
	x.whole = c.send(x, x.AppendRefusal(x.out[:0], e, x.keep)) == nil
}

// explain makes the explanation of a response the response.
func (c *Conn) explain(ctx context.Context, x *connExchange) {
	if body, ok := c.g.Explain(ctx, &x.Request); ok {
		x.buf = append(x.buf[:Headroom], body...)
		x.buf = append(x.buf, make([]byte, max(0, Headroom+BufferSize+Tailroom-len(x.buf)))...)
		x.reply, x.filled = 0, len(body)
	}
}

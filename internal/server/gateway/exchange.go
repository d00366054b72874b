package gateway

import (
	"context"
	"time"
)

// bufferSize is the size of the buffers that bodies are copied through.
const bufferSize = 32 << 10

// exchange is a request and its answer in the engine go. It is used again for
// others, with its memory; nothing of it may be kept.
type exchange struct {
	request

	upload upload
	head   []byte // for the runtime: head, and the body as far as it had come
	buf    []byte // what comes from the runtime; see frameChunk for its margins
	out    []byte // for the client
	reply  int    // length of the answer's head in buf[headroom:]
	filled int    // bytes of buf[headroom:] that hold something
	began  bool   // some of the answer has been sent
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
	if err := c.g.forward(&x.request, c, func() error { return c.roundTrip(ctx, x) }); err != nil {
		keep = c.refuse(ctx, x, err)
	} else {
		keep = c.relay(ctx, x)
	}
	c.now = time.Now()
	c.g.account(ctx, &x.request, &c.peer, c.now)
	return keep
}

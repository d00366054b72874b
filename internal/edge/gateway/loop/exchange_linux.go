package loop

import (
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/http1"
)

// loopExchange is a request and its response in a loop. Its body, if it has one, has
// arrived when the request begins.
type loopExchange struct {
	exchange.Request

	raw  []byte // the head as received; req points at it
	head []byte // for the runtime: the head and the body
	body int    // length of the body

	again   bool             // the request was sent before, on a spare connection
	part    []byte           // the beginning of a head of the runtime
	replied bool             // the head of the response was sent
	from    exchange.Framing // of the response, from the runtime
	to      exchange.Framing // and to the client
	left    int64            // of a response with a length
	dec     http1.Chunked    // of a response in chunks
	extra   bool             // the runtime has sent more than the response
	keep    bool             // the client's connection stays open
	writes  int              // number of writes to the client
}

// newExchange returns an exchange without a request.
func (l *loop) newExchange() *loopExchange {
	n := len(l.unused)
	if n == 0 {
		return &loopExchange{}
	}
	x := l.unused[n-1]
	l.unused = l.unused[:n-1]
	x.Reset()
	x.head, x.part, x.dec = x.head[:0], x.part[:0], http1.Chunked{Trailer: x.dec.Trailer[:0]}
	x.again, x.replied, x.extra, x.keep, x.writes = false, false, false, false, 0
	return x
}

// recycle keeps the memory of an exchange for another one, unless it is large.
func (l *loop) recycle(x *loopExchange) {
	const size, number = 64 << 10, 128
	if cap(x.head)+cap(x.part) <= size && len(l.unused) < number {
		l.unused = append(l.unused, x)
	}
}

// dropExchange ends the request of a client without a result: its claim, and its
// connection to the runtime.
func (l *loop) dropExchange(c *loopClient) {
	x := c.x
	if x == nil {
		return
	}
	if c.up != nil {
		l.closeRuntime(c.up)
	}
	x.Claim.Release()
	c.x, c.up = nil, nil
	l.e.InFlight.Add(-1)
}

// account ends the request of a client and reports it.
func (l *loop) account(c *loopClient) {
	x := c.x
	x.Claim.Release()
	l.e.Account(l.ctx, &x.Request, &c.peer, time.Now())
	l.dropExchange(c)
	l.recycle(x)
}

// complete ends a request whose response was sent, or is in c.out.
func (l *loop) complete(c *loopClient) {
	keep := c.x.keep && !l.e.IsClosing()
	l.account(c)
	if len(c.out) == 0 {
		c.out = nil // an idle connection has no buffers
	}
	if !keep {
		c.parting = c.readable || len(c.in) > 0
		l.closeWhenSent(c)
		return
	}
	c.since, c.behind = l.now, len(c.in) > 0
	if c.behind || c.readable {
		l.turn(c)
	}
}

// turn makes the loop proceed with a client after the other events.
func (l *loop) turn(c *loopClient) {
	if !c.queued {
		c.queued = true
		l.turns = append(l.turns, c)
	}
}

func (l *loop) takeTurns() {
	list := l.turns
	l.turns = nil
	for _, c := range list {
		c.queued = false
		l.dispatch(c, 0)
	}
	if l.turns == nil {
		l.turns = list[:0]
	}
}

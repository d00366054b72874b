package loop

import (
	"errors"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/edge/http1"
)

// noWait is the waiter of a loop.
type noWait struct{}

func (noWait) Wait(<-chan struct{}, time.Duration) error { return route.ErrBlocks }

// begin begins the request in data, or keeps an incomplete one. data is in l.in.
func (l *loop) begin(c *loopClient, data []byte) {
	n, err := http1.FindHead(data, 0)
	switch {
	case err != nil, n > l.e.Config.MaxHeader, n == 0 && (len(data) == len(l.in) || len(data) > l.e.Config.MaxHeader):
		l.handOver(c, data)
	case n == 0:
		c.keep(data)
	default:
		l.request(c, data, n)
	}
}

// request begins the request in data, whose head has n bytes.
func (l *loop) request(c *loopClient, data []byte, n int) {
	x := l.newExchange()
	x.raw = append(x.raw[:0], data[:n]...)
	err := x.Req.Parse(x.raw)
	switch {
	case err != nil, x.Req.Chunked, x.Req.WantsContinue(), x.Req.Length > int64(len(l.in)-n):
		l.recycle(x)
		l.handOver(c, data)
		return
	case x.Req.Length > int64(len(data)-n):
		l.recycle(x)
		c.keep(data)
		l.awaitBody(c)
		return
	}
	x.body = int(max(x.Req.Length, 0))
	c.waits, c.in = false, nil
	if rest := data[n+x.body:]; len(rest) > 0 {
		c.in = slices.Clone(rest)
	}
	l.serve(c, x, data[n:n+x.body])
}

// serve claims the runtime and sends the request.
func (l *loop) serve(c *loopClient, x *loopExchange, body []byte) {
	x.Start, x.InLoop = l.now, true
	x.Inspect(&c.peer)
	x.head = append(x.head, body...) // handOver looks for it there
	c.x, c.number = x, c.number+1
	l.e.InFlight.Add(1)
	err := l.e.ClaimFor(&x.Request, noWait{})
	switch {
	case errors.Is(err, route.ErrBlocks):
		l.handOver(c, nil)
	case err != nil:
		l.refuse(c, err)
	case x.Static.Is:
		l.sendAsset(c)
	case x.Claim.Upstream.IsRemote():
		l.handOver(c, nil)
	default:
		x.head = append(x.AppendRequest(x.head[:0], &c.peer), body...)
		l.ask(c)
	}
	if c.ended { // before this request, which the event was not for
		l.watchHalfClosed(c)
	}
}

// refuse answers with an error of the gateway itself [D44].
func (l *loop) refuse(c *loopClient, err error) {
	x := c.x
	e := l.e.Refusal(l.ctx, &x.Request, err)
	x.keep = x.Req.KeepsAlive() && !l.e.IsClosing()
	l.out = x.AppendRefusal(l.out[:0], e, x.keep)
	if l.write(c, l.out) {
		l.complete(c)
	}
}

// lateBody is a request whose body has not arrived.
type lateBody struct {
	*loopClient
	number uint32    // of the request before
	due    time.Time // when the loop no longer waits
}

// awaitBody waits for a body until patience ends: most often it arrives behind its head.
func (l *loop) awaitBody(c *loopClient) {
	if !c.waits {
		c.waits = true
		l.late = append(l.late, lateBody{c, c.number, l.now.Add(conn.Patience)})
	}
}

// endPatience hands the requests over whose body has not arrived.
func (l *loop) endPatience() {
	for len(l.late) > 0 && !l.now.Before(l.late[0].due) {
		b := l.late[0]
		l.late = l.late[1:]
		l.dispatch(b, 0)
	}
}

func (b lateBody) ready(l *loop, _ uint32) {
	if c := b.loopClient; c.fd >= 0 && c.waits && c.number == b.number {
		l.current = c
		l.handOver(c, c.in)
	}
}

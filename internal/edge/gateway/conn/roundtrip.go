package conn

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/edge/http1"
)

// MaxResponseHead is the maximum size of a response's head, in bytes.
const MaxResponseHead = 1 << 20

// roundTrip sends the request in x and reads the head of the response. A request that
// a worker may have seen is sent once, because it may be the reason why the runtime
// ended. Only a request that the runtime did not read, because it had closed the spare
// connection, is sent again on a new connection: see unseen.
//
// Errors: errUnreachable (no byte was sent), ErrClientGone, or an *svc.Error for the
// client.
func (c *Conn) roundTrip(ctx context.Context, x *connExchange) error {
	if len(x.head) == 0 { // else this is a repetition, with the bytes taken before
		x.head = x.AppendRequest(x.head, &c.peer)
		c.takeInput(x)
	}
	for sent, again := false, false; ; again = true {
		up, err := x.Claim.Upstream.Get(ctx, &x.Claim, c.now, again)
		if err != nil {
			return exchange.NotSent(sent, err)
		}
		if !c.attach(up) {
			return route.ErrClientGone
		}
		written, err := up.Send(&x.Claim, x.Req.HasBody(), x.head)
		if err == nil {
			err = c.answerHead(x)
		}
		if err == nil {
			return nil
		}
		c.dropUpstream()
		sent = (sent || written > 0) && !route.NotAdmitted(err)
		switch {
		case c.nc.Late.Load():
			return exchange.ErrHandshake(c.g.Config.ClientTimeout)
		case c.isGone():
			return c.watch.gone.cause
		case again || !up.Reused || route.Moved(err) || sent && !x.Unseen(err):
			return exchange.NotSent(sent, err)
		}
	}
}

// dropUpstream closes the runtime's connection and waits until no goroutine uses it.
func (c *Conn) dropUpstream() {
	c.cutUpstream()
	c.stopWatch()
	c.attach(nil)
}

// answerHead forwards the part of the body that arrives without a wait, then reads
// the head of the final response. It forwards interim responses to the client.
func (c *Conn) answerHead(x *connExchange) error {
	c.arm(c.up)
	switch {
	case x.upload.read:
	case !x.upload.chunked && x.upload.left <= inlineUpload && !x.Req.WantsContinue():
		if err := c.pumpSoon(x); err != nil && !errors.Is(err, ErrUpstreamWrite) {
			return c.hungUp(err)
		}
		if x.upload.read {
			break
		}
		fallthrough
	default:
		c.startWatch(x)
	}
	x.filled = 0
	for seen := 0; ; {
		b := x.buf[Headroom : Headroom+x.filled]
		n, err := http1.FindHead(b, seen)
		if err != nil {
			return err
		}
		if seen = len(b); n > 0 {
			if err := x.Resp.Parse(b[:n]); err != nil {
				return err
			}
			if x.reply = n; x.Resp.Status >= 200 || x.Resp.Status == 101 {
				return nil
			}
			if err := c.interim(x); err != nil {
				return err
			}
			seen = 0
			continue
		}
		if err := c.moreHead(x); err != nil {
			return err
		}
	}
}

// hungUp marks the client as gone, because of err, and returns err.
func (c *Conn) hungUp(err error) error {
	if !c.isGone() {
		c.watch.gone = &departure{seen: make(chan struct{})}
		c.watch.gone.end(err)
	}
	return err
}

// moreHead reads more of the response, into a larger buffer if necessary.
func (c *Conn) moreHead(x *connExchange) error {
	if free := len(x.buf) - Tailroom - Headroom - x.filled; free == 0 {
		if x.filled >= MaxResponseHead {
			return errors.New("the head of the response is too large")
		}
		x.buf = append(x.buf, make([]byte, len(x.buf))...)
	}
	n, err := c.readUpstream(x, x.buf[Headroom+x.filled:len(x.buf)-Tailroom])
	x.filled += n
	return err
}

// interim forwards a 1xx response to a client of HTTP/1.1.
func (c *Conn) interim(x *connExchange) error {
	c.nc.Answered(&x.Request)
	if x.Req.Minor == 1 {
		x.out = exchange.AppendFields(exchange.AppendStatus(x.out[:0], &x.Resp), &x.Resp)
		x.began = true
		if _, err := c.nc.Write(append(x.out, '\r', '\n')); err != nil {
			return c.hungUp(err)
		}
	}
	x.filled = copy(x.buf[Headroom:], x.buf[Headroom+x.reply:Headroom+x.filled])
	return nil
}

// arm sets the read deadline of up to the end of patience, or clears it if the
// client is watched already. It sets the deadline again only if the old one has
// nearly passed.
func (c *Conn) arm(up *route.UpConn) {
	var want time.Time
	if !c.watch.on {
		if up.Deadline.Sub(c.now) >= Patience {
			return
		}
		want = c.now.Add(2 * Patience)
	}
	if up.Deadline != want {
		up.Deadline = want
		_ = up.SetReadDeadline(want)
	}
}

// readUpstream reads from the runtime. If that takes longer than patience, the
// client is watched from then on.
func (c *Conn) readUpstream(x *connExchange, b []byte) (int, error) {
	for {
		n, err := c.up.Read(b)
		if n > 0 {
			return n, nil
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, err
		}
		c.lostPatience(x)
	}
}

func (c *Conn) lostPatience(x *connExchange) {
	c.startWatch(x)
	c.arm(c.up)
}

package gateway

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

// maxResponseHead is the maximum size of a response's head, in bytes.
const maxResponseHead = 1 << 20

// roundTrip sends the request in x and reads the head of the response. A request that
// a worker may have seen is sent once, because it may be the reason why the runtime
// ended. Only a request that the runtime did not read, because it had closed the spare
// connection, is sent again on a new connection: see unseen.
//
// Errors: errUnreachable (no byte was sent), errClientGone, or an *svc.Error for the
// client.
func (c *conn) roundTrip(ctx context.Context, x *exchange) error {
	if len(x.head) == 0 { // else this is a repetition, with the bytes taken before
		x.head = x.appendRequest(x.head, &c.peer)
		c.takeInput(x)
	}
	for sent, again := false, false; ; again = true {
		up, err := x.claim.upstream.get(ctx, &x.claim, c.now, again)
		if err != nil {
			return notSent(sent, err)
		}
		if !c.attach(up) {
			return errClientGone
		}
		written, err := up.send(&x.claim, x.req.HasBody(), x.head)
		if err == nil {
			err = c.answerHead(x)
		}
		if err == nil {
			return nil
		}
		c.dropUpstream()
		sent = (sent || written > 0) && !notAdmitted(err)
		switch {
		case c.nc.late.Load():
			return errHandshake(c.g.cfg.ClientTimeout)
		case c.isGone():
			return c.watch.gone.cause
		case again || !up.reused || moved(err) || sent && !x.unseen(err):
			return notSent(sent, err)
		}
	}
}

// dropUpstream closes the runtime's connection and waits until no goroutine uses it.
func (c *conn) dropUpstream() {
	c.cutUpstream()
	c.stopWatch()
	c.attach(nil)
}

// answerHead forwards the part of the body that arrives without a wait, then reads
// the head of the final response. It forwards interim responses to the client.
func (c *conn) answerHead(x *exchange) error {
	c.arm(c.up)
	switch {
	case x.upload.read:
	case !x.upload.chunked && x.upload.left <= inlineUpload && !x.req.WantsContinue():
		if err := c.pumpSoon(x); err != nil && !errors.Is(err, errUpstreamWrite) {
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
		b := x.buf[headroom : headroom+x.filled]
		n, err := http1.FindHead(b, seen)
		if err != nil {
			return err
		}
		if seen = len(b); n > 0 {
			if err := x.resp.Parse(b[:n]); err != nil {
				return err
			}
			if x.reply = n; x.resp.Status >= 200 || x.resp.Status == 101 {
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
func (c *conn) hungUp(err error) error {
	if !c.isGone() {
		c.watch.gone = &departure{seen: make(chan struct{})}
		c.watch.gone.end(err)
	}
	return err
}

// moreHead reads more of the response, into a larger buffer if necessary.
func (c *conn) moreHead(x *exchange) error {
	if free := len(x.buf) - tailroom - headroom - x.filled; free == 0 {
		if x.filled >= maxResponseHead {
			return errors.New("the head of the response is too large")
		}
		x.buf = append(x.buf, make([]byte, len(x.buf))...)
	}
	n, err := c.readUpstream(x, x.buf[headroom+x.filled:len(x.buf)-tailroom])
	x.filled += n
	return err
}

// interim forwards a 1xx response to a client of HTTP/1.1.
func (c *conn) interim(x *exchange) error {
	c.nc.answered(&x.request)
	if x.req.Minor == 1 {
		x.out = appendFields(appendStatus(x.out[:0], &x.resp), &x.resp)
		x.began = true
		if _, err := c.nc.Write(append(x.out, '\r', '\n')); err != nil {
			return c.hungUp(err)
		}
	}
	x.filled = copy(x.buf[headroom:], x.buf[headroom+x.reply:headroom+x.filled])
	return nil
}

// arm sets the read deadline of up to the end of patience, or clears it if the
// client is watched already. It sets the deadline again only if the old one has
// nearly passed.
func (c *conn) arm(up *upconn) {
	var want time.Time
	if !c.watch.on {
		if up.deadline.Sub(c.now) >= patience {
			return
		}
		want = c.now.Add(2 * patience)
	}
	if up.deadline != want {
		up.deadline = want
		_ = up.SetReadDeadline(want)
	}
}

// readUpstream reads from the runtime. If that takes longer than patience, the
// client is watched from then on.
func (c *conn) readUpstream(x *exchange, b []byte) (int, error) {
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

func (c *conn) lostPatience(x *exchange) {
	c.startWatch(x)
	c.arm(c.up)
}

package conn

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/edge/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

// Patience is the time for which a runtime may take before the client is watched.
// Most responses arrive sooner and need no second goroutine.
const Patience = 10 * time.Millisecond

// watch is a goroutine that reads what the client sends during an exchange: the
// rest of a body, which it forwards; then the bytes of the next request, which it
// keeps; and the end of the connection, at which it closes the runtime's connection.
type watch struct {
	on   bool
	gone *departure
	done chan struct{} // closed when the goroutine has ended
}

// departure is the end of an exchange because of its client.
type departure struct {
	seen  chan struct{} // closed at the end; cause is set before
	cause error         // ErrClientGone, or an *svc.Error for the client
}

// end ends the exchange because of err, from the connection or the body.
func (d *departure) end(err error) {
	d.cause = route.ErrClientGone
	var known *svc.Error
	var malformed *http1.Error
	switch {
	case errors.As(err, &known):
		d.cause = known
	case errors.As(err, &malformed):
		d.cause = exchange.BadRequest(err)
	}
	close(d.seen)
}

// startWatch begins to read from the client, unless a watch is running. Until
// stopWatch the watch owns the input. With x it forwards the body.
func (c *Conn) startWatch(x *connExchange) {
	if c.watch.on {
		return
	}
	w := watch{on: true, gone: &departure{seen: make(chan struct{})}, done: make(chan struct{})}
	c.watch = w
	go func() {
		defer close(w.done)
		err := c.follow(x)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, ErrUpstreamWrite) {
			w.gone.end(err)
			c.cutUpstream()
		}
	}()
}

// follow reads from the client for a watch. It returns nil when the input is full.
func (c *Conn) follow(x *connExchange) error {
	if x != nil && !x.upload.read {
		err := c.pump(x)
		switch {
		case err != nil && c.nc.Slow.Load():
			return exchange.ErrSlowBody(c.g.Config.ClientTimeout)
		case err != nil:
			return err
		}
	}
	for !c.in.full() {
		if _, err := c.in.fill(c.nc); errors.Is(err, io.EOF) {
			return c.nc.AwaitReset()
		} else if err != nil {
			return err
		}
	}
	return nil
}

// stopWatch ends the watch and waits for it.
func (c *Conn) stopWatch() {
	if !c.watch.on {
		return
	}
	_ = c.nc.SetReadDeadline(time.Unix(1, 0))
	<-c.watch.done
	_ = c.nc.SetReadDeadline(time.Time{})
	c.watch.on = false
}

// isGone reports whether a watch, past or present, saw the end of the exchange; then
// c.watch.gone.cause is the reason.
func (c *Conn) isGone() bool {
	if c.watch.gone == nil {
		return false
	}
	select {
	case <-c.watch.gone.seen:
		return true
	default:
		return false
	}
}

// Wait waits for ch while the client is watched, at most d. It returns nil when
// ch is closed, else ErrTimeout, ErrClientGone or ErrClosing.
func (c *Conn) Wait(ch <-chan struct{}, d time.Duration) error {
	c.startWatch(nil)
	defer c.stopWatch()
	err := route.WaitFor(ch, d, c.watch.gone.seen, c.g.Stopped())
	if errors.Is(err, route.ErrClientGone) {
		return c.watch.gone.cause
	}
	return err
}

// ErrUpstreamWrite reports that the rest of a body cannot be sent.
var ErrUpstreamWrite = errors.New("the runtime does not read the rest of the body")

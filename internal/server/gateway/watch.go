package gateway

import (
	"errors"
	"os"
	"time"
)

// patience is the time for which a runtime may take before the client is watched.
// Most responses arrive sooner and need no second goroutine.
const patience = 10 * time.Millisecond

// watch is a goroutine that reads what the client sends during an exchange: the
// rest of a body, which it forwards; then the bytes of the next request, which it
// keeps; and the end of the connection, at which it closes the runtime's connection.
type watch struct {
	on   bool
	gone chan struct{} // closed when the client has closed its connection
	done chan struct{} // closed when the goroutine has ended
}

// startWatch begins to read from the client, unless a watch is running. Until
// stopWatch the watch owns the input. With x it forwards the body.
func (c *conn) startWatch(x *exchange) {
	if c.watch.on {
		return
	}
	w := watch{on: true, gone: make(chan struct{}), done: make(chan struct{})}
	c.watch = w
	go func() {
		defer close(w.done)
		var err error
		if x != nil && !x.upload.read {
			err = c.pump(x)
		}
		for err == nil && !c.in.full() {
			_, err = c.in.fill(c.nc)
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, errUpstreamWrite) {
			close(w.gone)
			c.cutUpstream()
		}
	}()
}

// stopWatch ends the watch and waits for it.
func (c *conn) stopWatch() {
	if !c.watch.on {
		return
	}
	_ = c.nc.SetReadDeadline(time.Unix(1, 0))
	<-c.watch.done
	_ = c.nc.SetReadDeadline(time.Time{})
	c.watch.on = false
}

// isGone reports whether a watch, past or present, saw the client close its
// connection.
func (c *conn) isGone() bool {
	select {
	case <-c.watch.gone: // nil before the first watch: never ready
		return true
	default:
		return false
	}
}

// wait waits for ch while the client is watched, at most d. It returns nil when
// ch is closed, else errTimeout, errClientGone or errClosing.
func (c *conn) wait(ch <-chan struct{}, d time.Duration) error {
	c.startWatch(nil)
	defer c.stopWatch()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ch:
		return nil
	case <-timer.C:
		return errTimeout
	case <-c.watch.gone:
		return errClientGone
	case <-c.g.closed:
		return errClosing
	}
}

var (
	errTimeout       = errors.New("the time limit of the wait was reached")
	errClosing       = errors.New("the gateway is stopping")
	errUpstreamWrite = errors.New("the runtime does not read the rest of the body")
)

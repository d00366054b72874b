package route

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/relay"
)

// Relay is how a gateway reaches the runtimes of another machine.
type Relay interface {
	// Dial connects to a runtime: at its machine if d has an address, else through the server. Its
	// errors are those of relay.Dialer.
	Dial(ctx context.Context, d relay.Destination) (*relay.Conn, error)
	// Newer returns a channel that is closed when the gateway's routes have at least this
	// generation, and also when the gateway has got all routes anew.
	Newer(generation uint64) <-chan struct{}
}

const (
	// admitLimit is the time limit for an admission that the gateway waits for.
	admitLimit = 3 * time.Second
	// redialWait is the time between two tries to reach a relay.
	redialWait = 250 * time.Millisecond
	// reaskWait is the time before a request is asked for again that the relay has refused
	// by routes which the gateway has already: they change in this moment.
	reaskWait = 5 * time.Millisecond
)

// Send writes the head of the request of cl. A relay is asked first; if the request has a body, send waits for
// the relay's answer, because the body cannot be sent twice.
func (c *UpConn) Send(cl *Claim, body bool, head []byte) (int, error) {
	if r, ok := c.Conn.(*relay.Conn); ok {
		if body {
			c.Deadline = time.Time{}
		}
		if err := r.Begin(cl.Role, cl.via, body, admitLimit); err != nil {
			return 0, err
		}
	}
	return c.Write(head)
}

// end says to a relay that the response was read to its end.
func (c *UpConn) end() error {
	if r, ok := c.Conn.(*relay.Conn); ok {
		return r.End()
	}
	return nil
}

// Opened says to a relay that the request has become a websocket. A failure ends the
// connection, which the websocket notices.
func (c *UpConn) Opened() {
	if r, ok := c.Conn.(*relay.Conn); ok {
		_ = r.Opened()
	}
}

// NotAdmitted reports whether the relay has kept the request from the runtime.
func NotAdmitted(err error) bool { return errors.Is(err, relay.ErrNotAdmitted) }

// Moved reports whether the relay has refused the request by its routes: no other connection
// helps.
func Moved(err error) bool {
	_, is := errors.AsType[*relay.MovedError](err)
	return is || errors.Is(err, relay.ErrFull)
}

// AwaitTable waits after err, with which the relay could not be reached or has refused x,
// until x can be tried again, within the rest of a limit. It returns nil for another try.
func (r *Router) AwaitTable(x *Request, w Waiter, err error, left *time.Duration) error {
	if errors.Is(err, relay.ErrFull) {
		return errVersionBusy(x.Claim.Version)
	}
	var next <-chan struct{} = x.Claim.Version.Replaced
	part, late := redialWait, errAway
	if u := x.Claim.Version.upstream; u != nil && !Moved(err) && u.avoid(time.Now(), directRetry) {
		part = reaskWait // the server may know more
	}
	if m, ok := errors.AsType[*relay.MovedError](err); ok {
		next, part, late = r.cfg.Relay.Newer(m.Generation), *left, ErrHeld
		select {
		case <-next:
			next, part = x.Claim.Version.Replaced, reaskWait
			if u := x.Claim.Version.upstream; u != nil {
				u.avoid(time.Now(), refusedFor)
			}
		default:
		}
	}
	if *left <= 0 {
		return late()
	}
	defer r.held.Add(-1)
	if r.held.Add(1) > int64(r.cfg.MaxHeld) {
		return late()
	}
	began := time.Now()
	werr := w.Wait(next, min(part, *left))
	*left -= time.Since(began)
	switch {
	case errors.Is(werr, ErrTimeout):
		return nil
	case errors.Is(werr, ErrClosing):
		return late()
	}
	return werr
}

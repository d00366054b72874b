package machines

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// The wait after a connection could not be taken, mostly for want of a descriptor.
	acceptSoon = 5 * time.Millisecond
	acceptLate = time.Second
)

// accept takes the connections of machines until l is closed.
func (f *Fleet) accept(l net.Listener) {
	for retry := (backoff.Backoff{First: acceptSoon, Max: acceptLate}); ; {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			wait := retry.Next()
			f.cfg.Logger.Warn("taking the connection of a machine failed; trying again", "error", err, "retry_in", wait)
			_ = backoff.Sleep(f.life, wait) // the end of life closes l
		default:
			retry.Reset()
			f.tasks.Go(func() { f.welcome(f.life, conn) })
		}
	}
}

// isRefusal distinguishes what is wrong with a machine from a fault of this daemon, after which the
// machine must dial again.
func isRefusal(err error) bool {
	e, ok := errors.AsType[*svc.Error](err)
	return ok && e.Kind != svc.Unavailable && e.Kind != svc.Internal
}

// postpone closes the connection of a machine, which dials again.
func (f *Fleet) postpone(ctx context.Context, conn net.Conn, machine string, err error) {
	f.cfg.Logger.ErrorContext(ctx, "a machine cannot join now; it dials again", "machine", machine, "error", err)
	_ = conn.Close()
}

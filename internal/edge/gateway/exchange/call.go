package exchange

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/svc"
)

// Call is a connection to the runtime of a version, for a call of another worker. While it
// is open, the version counts as in use, and a promote or an archive waits for it as for a
// request in flight.
type Call struct {
	net.Conn

	Ref svc.Ref

	claim *route.Claim
	once  sync.Once
}

// Close closes the connection and ends the claim. It may be called again.
func (c *Call) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.claim.Release)
	return err
}

// Call connects with the runtime of a project's production, or of its version or preview of
// that name. It waits as a request does: while production is held, and while the runtime
// starts. Errors are those that a visitor gets. The caller closes the connection.
func (s *Service) Call(ctx context.Context, project, version string) (*Call, error) {
	var x Request
	x.Start, x.Call = time.Now(), &svc.Ref{Project: project, Version: version}
	var conn net.Conn
	err := s.Forward(&x, callWaiter{ctx, s.Router}, func() (err error) {
		v := x.Claim.Version
		if v.State.Calls == "" {
			return route.ErrNoRuntime(v)
		}
		if conn, err = route.Dial(ctx, v.State.Calls); err != nil {
			return fmt.Errorf("%w: %w", errUnreachable, err)
		}
		return nil
	})
	if err != nil {
		return nil, asAnswer(err)
	}
	return &Call{Conn: conn, Ref: x.Claim.Ref(), claim: &x.Claim}, nil
}

// callWaiter lets a call wait.
type callWaiter struct {
	ctx context.Context //nolint:containedctx // of one wait
	r   *route.Router
}

func (w callWaiter) Wait(ch <-chan struct{}, d time.Duration) error {
	return route.WaitFor(ch, d, w.ctx.Done(), w.r.Stopped())
}

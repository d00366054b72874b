package exchange

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"

	"github.com/svcctl/svcctl/internal/fleet/relay"
)

// Unseen reports whether err, from a connection that x was sent on, means that the
// worker did not see x. Linux answers ECONNRESET on a unix socket whose other end was
// closed with unread bytes; workerd begins a request when it has read its head, which
// is all of a request without a body. A runtime that was replaced has ended, perhaps
// because of x: then the result is false.
func (x *Request) Unseen(err error) bool {
	if errors.Is(err, relay.ErrUnread) {
		return !x.Req.HasBody() && !x.Claim.Upstream.IsClosed()
	}
	return !x.Claim.Upstream.IsRemote() && runtime.GOOS == "linux" && errors.Is(err, syscall.ECONNRESET) && !x.Req.HasBody() && !x.Claim.Upstream.IsClosed()
}

// NotSent returns the failure of a request that gets no answer. A request of which
// nothing was sent may be sent to another runtime.
func NotSent(sent bool, err error) error {
	if sent {
		return ErrBroken(err)
	}
	return fmt.Errorf("%w: %w", errUnreachable, err)
}

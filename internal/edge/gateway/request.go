package gateway

import (
	"errors"
	"os"
	"time"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

const (
	// maxClaims is the maximum number of claims of one request.
	maxClaims = 3
	// crashWait is the time for which a request waits, after a runtime refused its
	// connection, until the supervisor detects the crash.
	crashWait = 300 * time.Millisecond
)

// request is the part of a request that every engine shares: the heads of request
// and response, the route and the claim, and the result.
type request struct {
	RouteRequest

	resp http1.Response
	meta meta

	compressor *compressor // of the response's body, nil to send it unchanged
	vary       bool        // the response depends on Accept-Encoding

	content []byte   // the static file that is the response, if it is small
	file    *os.File // a larger one

	status  int    // of the response
	sent    int64  // bytes of its body that the client's connection took
	failed  bool   // the worker threw
	errCode string // of a response of the gateway itself
}

// forward claims the runtime of x and calls send, with which the engine sends x;
// send returns when the head of the response is in x.resp. A static file needs
// neither: its head is in x.resp, its body is what readAsset returns. On success the claim is held.
//
// forward may wait, so an event loop does not call it: the loop calls take, which claims
// the runtime before the request is sent, as forward does, and hands a request that has to
// wait over to a goroutine, which calls forward.
func (s *Service) forward(x *request, w waiter, send func() error) error {
	patience := s.holdTimeout() // with a relay
	for try := 1; ; try++ {
		if err := s.take(&x.RouteRequest, w); err != nil {
			return err
		}
		if x.static.is {
			return x.openAsset(&s.contents)
		}
		err := send()
		if err == nil {
			return nil
		}
		x.claim.leave() // not answered
		x.claim.release()
		switch {
		case !errors.Is(err, errUnreachable):
			return err
		case s.isRemote():
			if werr := s.awaitTable(&x.RouteRequest, w, err, &patience); werr != nil {
				return werr
			}
			continue
		case try == maxClaims:
			return errBroken(err)
		}
		if werr := w.wait(x.claim.version.replaced, crashWait); werr != nil && !errors.Is(werr, errTimeout) {
			return werr
		}
	}
}

// reset makes x ready for another request. Its buffers stay.
func (x *request) reset() {
	x.claim, x.hints, x.static = claim{}, hints{}, static{}
	x.meta = meta{xff: x.meta.xff[:0], id: x.meta.id[:0], traceparent: x.meta.traceparent[:0]}
	x.vary, x.content, x.file = false, nil, nil
	x.status, x.sent, x.errCode, x.failed = 0, 0, "", false
}

// claimFor claims the runtime of x, or finds its static file, as the first step of forward does. It is
// for an event loop, whose waiter does not wait.
func (s *Service) claimFor(x *request, w waiter) error { return s.take(&x.RouteRequest, w) }

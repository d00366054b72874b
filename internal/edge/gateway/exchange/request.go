package exchange

import (
	"errors"
	"os"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/edge/http1"
)

const (
	// maxClaims is the maximum number of claims of one request.
	maxClaims = 3
	// crashWait is the time for which a request waits, after a runtime refused its
	// connection, until the supervisor detects the crash.
	crashWait = 300 * time.Millisecond
)

// Request is the part of a request that every engine shares: the heads of request
// and response, the route and the claim, and the result.
type Request struct {
	route.Request

	Resp http1.Response
	meta meta

	Compressor *Compressor // of the response's body, nil to send it unchanged
	vary       bool        // the response depends on Accept-Encoding

	content []byte   // the static file that is the response, if it is small
	File    *os.File // a larger one

	Status  int    // of the response
	Sent    int64  // bytes of its body that the client's connection took
	failed  bool   // the worker threw
	ErrCode string // of a response of the gateway itself
}

// Forward claims the runtime of x and calls send, with which the engine sends x;
// send returns when the head of the response is in x.Resp. A static file needs
// neither: its head is in x.Resp, its body is what ReadAsset returns. On success the claim is held.
//
// Forward may wait, so an event loop does not call it: the loop calls ClaimFor, which claims
// the runtime before the request is sent, as Forward does, and hands a request that has to
// wait over to a goroutine, which calls Forward.
func (s *Service) Forward(x *Request, w route.Waiter, send func() error) error {
	patience := s.HoldTimeout() // with a relay
	for try := 1; ; try++ {
		if err := s.Take(&x.Request, w); err != nil {
			return err
		}
		if x.Static.Is {
			return x.openAsset(&s.contents)
		}
		err := send()
		if err == nil {
			return nil
		}
		x.Claim.Leave() // not answered
		x.Claim.Release()
		switch {
		case !errors.Is(err, errUnreachable):
			return err
		case s.IsRemote():
			if werr := s.AwaitTable(&x.Request, w, err, &patience); werr != nil {
				return werr
			}
			continue
		case try == maxClaims:
			return ErrBroken(err)
		}
		if werr := w.Wait(x.Claim.Version.Replaced, crashWait); werr != nil && !errors.Is(werr, route.ErrTimeout) {
			return werr
		}
	}
}

// Reset makes x ready for another request. Its buffers stay.
func (x *Request) Reset() {
	x.Claim, x.Hints, x.Static = route.Claim{}, route.Hints{}, route.Static{}
	x.meta = meta{xff: x.meta.xff[:0], id: x.meta.id[:0], traceparent: x.meta.traceparent[:0]}
	x.vary, x.content, x.File = false, nil, nil
	x.Status, x.Sent, x.ErrCode, x.failed = 0, 0, "", false
}

// ClaimFor claims the runtime of x, or finds its static file, as the first step of Forward does. It is
// for an event loop, whose waiter does not wait.
func (s *Service) ClaimFor(x *Request, w route.Waiter) error { return s.Take(&x.Request, w) }

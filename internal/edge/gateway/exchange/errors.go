package exchange

import (
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/edge/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

// errUnreachable is an internal result; a client never receives it.
var errUnreachable = errors.New("the runtime cannot be reached")

// ErrBroken says that the runtime has failed.
func ErrBroken(cause error) *svc.Error {
	return svc.Errorf(svc.Internal, svc.CodeRuntimeUnavailable, "the runtime ended before it answered").Because(cause)
}

// ErrNotAsked says that the worker switched protocols by itself.
func ErrNotAsked() *svc.Error {
	return ErrBroken(errors.New("it switched protocols without being asked to"))
}

// ErrSlowBody says that the client stopped to send.
func ErrSlowBody(limit time.Duration) *svc.Error {
	return svc.Errorf(svc.BadRequest, svc.CodeBodyIncomplete, "no byte of the body arrived within %s", limit)
}

// ErrHandshake says that a websocket was not opened in time.
func ErrHandshake(limit time.Duration) *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeTimeout, "the worker did not answer the websocket handshake within %s", limit)
}

// HeadTooLarge is the detail of the error 431.
const HeadTooLarge = "the request head is too large"

// BadRequest returns the response to a request that violates the grammar.
func BadRequest(err error) *svc.Error {
	var e *http1.Error
	if errors.As(err, &e) && e.Status == 431 {
		return svc.Errorf(svc.TooLarge, svc.CodeHeaderTooLarge, "%s", e.Detail)
	}
	if e == nil {
		return svc.Errorf(svc.BadRequest, svc.CodeBadRequest, "malformed request").Because(err)
	}
	return svc.Errorf(svc.BadRequest, svc.CodeBadRequest, "malformed request: %s", e.Detail).Because(err)
}

// statusOf returns the HTTP status of a response with this error.
func statusOf(e *svc.Error) int {
	var grammar *http1.Error
	switch {
	case e.Code == svc.CodeRuntimeUnavailable:
		return 502
	case e.Code == svc.CodeHeaderTooLarge:
		return 431
	case e.Code == svc.CodeBodyIncomplete:
		return 408
	case e.Code == svc.CodeTimeout:
		return 504
	case errors.As(e.Err, &grammar):
		return grammar.Status
	case e.Code == svc.CodeDomainRedirected:
		return 308
	case e.Kind == svc.NotFound:
		return 404
	case e.Kind == svc.Unavailable:
		return 503
	case e.Kind == svc.BadRequest:
		return 400
	}
	return 500
}

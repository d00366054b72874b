package client

import (
	"errors"
	"io"
	"net"
	"net/url"
	"os"
)

// noAnswer is ErrUnreachable with the address of the server and the reason. The error of
// net/http has the whole URL of the request and the steps of a dial, which say nothing
// about what to change.
type noAnswer struct {
	server string // scheme and host; "" if not known
	cause  error
}

func unreachable(err error) error {
	e := &noAnswer{cause: err}
	request, ok := errors.AsType[*url.Error](err)
	if !ok {
		return e
	}
	if u, parseErr := url.Parse(request.URL); parseErr == nil && u.Host != "" {
		e.server = u.Scheme + "://" + u.Host
	}
	return e
}

// Error returns the address and the reason.
func (e *noAnswer) Error() string {
	text := ErrUnreachable.Error()
	if e.server != "" {
		text += " at " + e.server
	}
	return text + ": " + e.reason()
}

// reason is the cause without the request and the operations of the network.
func (e *noAnswer) reason() string {
	err := e.cause
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended before the answer"
	case errors.Is(err, errSilent):
		return errSilent.Error()
	case isTimeout(err):
		return "the time limit of the request passed"
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err
	}
	return err.Error()
}

// Unwrap returns ErrUnreachable and the error of the request.
func (e *noAnswer) Unwrap() []error { return []error{ErrUnreachable, e.cause} }

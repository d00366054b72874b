//go:build !linux

package confine

import "errors"

// ErrNoCalls says that this system does not report calls of programs.
var ErrNoCalls = errors.New("this system does not report calls")

// Calls is not available on this platform.
type Calls struct{}

// Notify returns ErrNoCalls on this platform.
func Notify(_, _ bool) (*Calls, error) { return nil, ErrNoCalls }

// Serve is not available on this platform.
func (*Calls) Serve(int, Handlers) error { return ErrNoCalls }

// Close is not available on this platform.
func (*Calls) Close() error { return nil }

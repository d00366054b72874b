//go:build !linux

package confine

import "errors"

// ErrNoOpens says that this system does not report calls of programs.
var ErrNoOpens = errors.New("this system does not report opens")

// Opens is not available on this platform.
type Opens struct{}

// NotifyOpens returns ErrNoOpens on this platform.
func NotifyOpens() (*Opens, error) { return nil, ErrNoOpens }

// Serve is not available on this platform.
func (*Opens) Serve(HandleOpen) error { return ErrNoOpens }

// Close is not available on this platform.
func (*Opens) Close() error { return nil }

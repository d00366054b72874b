package route

import (
	"errors"
	"time"
)

// Waiter observes a client while its request waits for a runtime.
type Waiter interface {
	// Wait waits for ch, at most d. It returns nil when ch is closed, else
	// ErrTimeout, ErrClientGone or ErrClosing.
	Wait(ch <-chan struct{}, d time.Duration) error
}

// WaitFor waits for ch, at most d. It returns nil when ch is closed, else ErrTimeout,
// ErrClientGone after gone, or ErrClosing after closing.
func WaitFor(ch <-chan struct{}, d time.Duration, gone, closing <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ch:
		return nil
	case <-timer.C:
		return ErrTimeout
	case <-gone:
		return ErrClientGone
	case <-closing:
		return ErrClosing
	}
}

// Why a wait ended, or cannot begin.
var (
	ErrBlocks     = errors.New("the request waits, or needs a file")
	ErrTimeout    = errors.New("the time limit of the wait was reached")
	ErrClosing    = errors.New("the gateway is stopping")
	ErrClientGone = errors.New("the client has gone")
)

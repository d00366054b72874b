package gateway

import (
	"errors"
	"time"
)

// waiter observes a client while its request waits for a runtime.
type waiter interface {
	// wait waits for ch, at most d. It returns nil when ch is closed, else
	// errTimeout, errClientGone or errClosing.
	wait(ch <-chan struct{}, d time.Duration) error
}

// waitFor waits for ch, at most d. It returns nil when ch is closed, else errTimeout,
// errClientGone after gone, or errClosing after closing.
func waitFor(ch <-chan struct{}, d time.Duration, gone, closing <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ch:
		return nil
	case <-timer.C:
		return errTimeout
	case <-gone:
		return errClientGone
	case <-closing:
		return errClosing
	}
}

// Why a wait ended, or cannot begin.
var (
	errBlocks     = errors.New("the request waits, or needs a file")
	errTimeout    = errors.New("the time limit of the wait was reached")
	errClosing    = errors.New("the gateway is stopping")
	errClientGone = errors.New("the client has gone")
)

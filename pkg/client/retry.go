package client

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"time"
)

// The pauses before a refused connection is tried again: 350 ms in all, long
// enough for a daemon that restarts.
const (
	firstPause  = 50 * time.Millisecond
	connectTrys = 4
)

// retrier repeats a GET whose connection was refused.
type retrier struct{ next listener }

// Do sends a request.
func (r retrier) Do(req *http.Request) (*http.Response, error) {
	pause := firstPause
	for try := 1; ; try++ {
		resp, err := r.next.Do(req)
		if req.Method != http.MethodGet || try == connectTrys || !errors.Is(err, syscall.ECONNREFUSED) {
			return resp, err
		}
		if err := sleep(req.Context(), pause); err != nil {
			return nil, err
		}
		pause *= 2
	}
}

// sleep waits for d or the end of ctx, whose error it returns.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package binding

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// LargeSize is the size in bytes from which a request or an answer that is held in
	// memory needs a Large.
	LargeSize  = 1 << 20
	largeSlots = 2
	largeWait  = 30 * time.Second
)

// slots bounds the memory of this process, which serves one version: a worker may send as
// many requests at the same time as it likes.
//
//nolint:gochecknoglobals // memory belongs to the process
var slots = make(chan struct{}, largeSlots)

// Large is the right to hold a large request and its answer in memory: two requests of a
// process have it at a time. It belongs to one goroutine; its zero value has no right yet.
type Large struct{ held bool }

// Acquire waits for the right, for 30 seconds at most. Calling it again does nothing.
func (l *Large) Acquire(ctx context.Context) error { return l.acquire(ctx, largeWait) }

func (l *Large) acquire(ctx context.Context, limit time.Duration) error {
	if l.held {
		return nil
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case slots <- struct{}{}:
		l.held = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return svc.Errorf(svc.Unavailable, svc.CodeTooManyLarge, "other requests of this worker with more than %d MiB take too long", LargeSize>>20).
			WithHint("read each answer before you send the next request")
	}
}

// Release gives the right back, if it was acquired.
func (l *Large) Release() {
	if l.held {
		l.held = false
		<-slots
	}
}

// ReadBody reads a request's body up to limit bytes, and one more if it is longer. It
// acquires l before it holds more than LargeSize.
func (l *Large) ReadBody(r *http.Request, limit int64) ([]byte, error) {
	n := r.ContentLength
	if n >= 0 && n <= LargeSize && n <= limit {
		body := make([]byte, n)
		_, err := io.ReadFull(r.Body, body)
		return body, err
	}
	var body bytes.Buffer
	_, err := io.CopyN(&body, r.Body, min(LargeSize, limit)+1)
	if errors.Is(err, io.EOF) {
		return body.Bytes(), nil
	}
	if err == nil {
		err = l.Acquire(r.Context())
	}
	if err != nil {
		return nil, err
	}
	if n > 0 {
		body.Grow(int(min(n, limit+1)))
	}
	_, err = io.Copy(&body, io.LimitReader(r.Body, limit+1-int64(body.Len())))
	return body.Bytes(), err
}

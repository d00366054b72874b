package objstore

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	// tellAfter is how long writes fail before a line says so: shorter faults are the rule in a network.
	tellAfter = 5 * time.Second
	// tellEvery is the time between two lines.
	tellEvery = 30 * time.Second
)

// Told returns b with a log that says what waits: writes that are repeated, as by [Settle], while a
// full disk or a missing right lets them fail.
func Told(b Bucket, log *slog.Logger) Bucket { return &told{Bucket: b, log: log} }

type told struct {
	Bucket

	log *slog.Logger

	mu    sync.Mutex
	since time.Time // first failure after the last success; zero for none
	said  time.Time
}

// Put implements Bucket.
func (t *told) Put(ctx context.Context, key string, body io.Reader, size int64, cond Condition) (Info, error) {
	info, err := t.Bucket.Put(ctx, key, body, size, cond)
	if waited, say := t.judge(err); say {
		t.log.WarnContext(ctx, "writes to the object store fail; retrying", "key", key, "error", err, "since", waited.Round(time.Second))
	}
	return info, err
}

// judge notes the result of a write, and reports whether it is time for a line.
func (t *told) judge(err error) (waited time.Duration, say bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	switch {
	case err == nil, errors.Is(err, ErrPrecondition):
		t.since, t.said = time.Time{}, time.Time{}
		return 0, false
	case errors.Is(err, context.Canceled):
		return 0, false
	case t.since.IsZero():
		t.since = now
	}
	waited = now.Sub(t.since)
	if say = waited >= tellAfter && now.Sub(t.said) >= tellEvery; say {
		t.said = now
	}
	return waited, say
}

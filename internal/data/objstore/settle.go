package objstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/svcctl/svcctl/internal/lib/backoff"
)

// ErrTorn says that a body ended early, each time that it was read: it had fewer bytes than the
// object has. It is a failure of the object store or of the network, and says nothing of the object.
var ErrTorn = errors.New("the body ended early")

// ErrShort says that the object has fewer bytes than the caller wants. A retry does not help.
var ErrShort = errors.New("the object is too short")

// errHung says that a request was canceled after its time limit.
var errHung = errors.New("the object store did not answer in time")

// The pauses between attempts, and the time limit of one attempt: the base plus
// the time that a slow line needs for the body.
const (
	firstPause  = 30 * time.Millisecond
	longestWait = 3 * time.Second
	attemptBase = 20 * time.Second
	slowLine    = 256 << 10 // bytes a second
)

// Settle is Put for writers that must know the outcome. It retries until the object
// store has accepted or rejected the object, its error is [ErrFinal], or ctx ends. After a rejection it reads
// the object back: its own earlier attempt counts as success, another object is
// ErrPrecondition. cond must not be empty: without a condition a late attempt could
// overwrite a newer object. When ctx ends first the outcome is unknown; call Settle
// again with the same body to learn it.
func Settle(ctx context.Context, b Bucket, key string, body io.ReaderAt, size int64, cond Condition) (Info, error) { //nolint:revive // a context and the arguments of Put
	if cond == (Condition{}) {
		return Info{}, fmt.Errorf("put %s: settling needs a condition", key)
	}
	for retry := newRetry(); ; {
		info, done, err := settleOnce(ctx, b, key, body, size, cond)
		if done || errors.Is(err, ErrFinal) {
			return info, err
		}
		if retry.Sleep(ctx) != nil {
			// Not wrapped: an unverified rejection is not ErrPrecondition.
			return Info{}, fmt.Errorf("put %s: outcome unknown: %w (%v)", key, context.Cause(ctx), err) //nolint:errorlint // see above
		}
	}
}

// SettleBytes is Settle for a body in memory.
func SettleBytes(ctx context.Context, b Bucket, key string, data []byte, cond Condition) (Info, error) {
	return Settle(ctx, b, key, bytes.NewReader(data), int64(len(data)), cond)
}

func settleOnce(ctx context.Context, b Bucket, key string, body io.ReaderAt, size int64, cond Condition) (Info, bool, error) { //nolint:revive // the arguments of Settle
	attempt, cancel := context.WithTimeout(ctx, timeLimit(size))
	defer cancel()
	info, err := b.Put(attempt, key, io.NewSectionReader(body, 0, size), size, cond)
	if err == nil || !errors.Is(err, ErrPrecondition) {
		return info, err == nil, err
	}
	same, found, readErr := compare(attempt, b, key, io.NewSectionReader(body, 0, size))
	switch {
	case errors.Is(readErr, ErrNotExist):
		return Info{}, !cond.IfAbsent, err // create: concurrent writers, or a deletion: retry
	case readErr != nil:
		return Info{}, false, errors.Join(err, readErr)
	case same:
		return found, true, nil
	case cond.IfMatch != "" && found.ETag == cond.IfMatch:
		return Info{}, false, err // rejected although the condition holds: concurrent writers
	default:
		return Info{}, true, err
	}
}

// Same reports whether the object exists and has exactly these bytes. It retries
// failed requests a few times.
func Same(ctx context.Context, b Bucket, key string, body io.ReaderAt, size int64) (bool, error) {
	const tries = 6
	retry := newRetry()
	for try := 1; ; try++ {
		same, _, err := compare(ctx, b, key, io.NewSectionReader(body, 0, size))
		if errors.Is(err, ErrNotExist) {
			return false, nil
		}
		if err == nil || try == tries || retry.Sleep(ctx) != nil {
			return same, err
		}
	}
}

// timeLimit is the time limit of a request with a body of n bytes.
func timeLimit(n int64) time.Duration {
	return attemptBase + time.Duration(n/slowLine)*time.Second
}

// attempt bounds one request for a body of unknown size; extend adapts the limit to
// the size once it is known.
func attempt(ctx context.Context) (_ context.Context, extend func(n int64), cancel context.CancelFunc) {
	ctx, cancelCause := context.WithCancelCause(ctx)
	timer := time.AfterFunc(attemptBase, func() { cancelCause(errHung) })
	extend = func(n int64) { timer.Reset(timeLimit(n)) }
	return ctx, extend, func() {
		timer.Stop()
		cancelCause(nil)
	}
}

// compare reports whether the object has exactly the bytes of want.
func compare(ctx context.Context, b Bucket, key string, want *io.SectionReader) (same bool, info Info, err error) {
	ctx, extend, cancel := attempt(ctx)
	defer cancel()
	r, info, err := b.Get(ctx, key, 0, -1)
	if err != nil {
		return false, info, err
	}
	defer r.Close()
	extend(info.Size)
	if info.Size != want.Size() {
		return false, info, nil
	}
	own, stored := bufio.NewReaderSize(want, 64<<10), bufio.NewReaderSize(r, 64<<10)
	x, y := make([]byte, 32<<10), make([]byte, 32<<10)
	for left := info.Size; left > 0; {
		n := min(left, int64(len(x)))
		if _, err := io.ReadFull(own, x[:n]); err != nil {
			return false, info, fmt.Errorf("read body of %s: %w", key, err)
		}
		if _, err := io.ReadFull(stored, y[:n]); err != nil {
			return false, info, fmt.Errorf("read back %s: %w", key, errors.Join(ErrTorn, err))
		}
		if !bytes.Equal(x[:n], y[:n]) {
			return false, info, nil
		}
		left -= n
	}
	return true, info, nil
}

// Read returns the n bytes of an object from off, or all bytes from off for -1. It
// retries failed and hanging requests a few times, and returns ErrTorn when the
// object store keeps returning fewer bytes; ErrNotExist and ErrShort are final. The Info is what the
// last answer said, also with an error. When ctx ends first, nothing is known of the object.
func Read(ctx context.Context, b Bucket, key string, off, n int64) ([]byte, Info, error) {
	const tries = 6
	retry := newRetry()
	for try := 1; ; try++ {
		data, info, err := readOnce(ctx, b, key, off, n)
		if err == nil || errors.Is(err, ErrNotExist) || errors.Is(err, ErrShort) || try == tries && ctx.Err() == nil {
			return data, info, err
		}
		if retry.Sleep(ctx) != nil {
			return nil, Info{}, fmt.Errorf("read %s: %w (%v)", key, context.Cause(ctx), err) //nolint:errorlint // not wrapped: no torn object was found
		}
	}
}

func readOnce(ctx context.Context, b Bucket, key string, off, n int64) ([]byte, Info, error) {
	ctx, extend, cancel := attempt(ctx)
	defer cancel()
	r, info, err := b.Get(ctx, key, off, n)
	if err != nil {
		return nil, info, err
	}
	defer r.Close()
	want := info.Size - off
	if n >= 0 {
		want = n
	}
	if want < 0 || off+want > info.Size {
		return nil, info, fmt.Errorf("read %s: %w: it has %d bytes, want %d from %d", key, ErrShort, info.Size, n, off)
	}
	extend(want)
	data := make([]byte, want)
	got, err := io.ReadFull(r, data)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, info, fmt.Errorf("read %s: %w: got %d of %d bytes from %d: %w", key, ErrTorn, got, want, off, err)
	case err != nil:
		return nil, info, fmt.Errorf("read %s: %w", key, err)
	default:
		return data, info, nil
	}
}

// ListAll returns every object below prefix in key order. Each needs less memory.
func ListAll(ctx context.Context, b Bucket, prefix string) (all []Info, err error) {
	err = Each(ctx, b, prefix, func(info Info) error { all = append(all, info); return nil })
	if err != nil {
		return nil, err
	}
	return all, nil
}

func listPage(ctx context.Context, b Bucket, prefix, after string, limit int) ([]Info, error) {
	const tries = 6
	retry := newRetry()
	for try := 1; ; try++ {
		infos, err := listOnce(ctx, b, prefix, after, limit)
		if err == nil || try == tries || retry.Sleep(ctx) != nil {
			return infos, err
		}
	}
}

func listOnce(ctx context.Context, b Bucket, prefix, after string, limit int) ([]Info, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptBase)
	defer cancel()
	return b.List(ctx, prefix, after, limit)
}

// newRetry is the pauses between attempts. Two thirds are random: clients that failed together come
// back apart.
func newRetry() backoff.Backoff {
	return backoff.Backoff{First: firstPause, Max: longestWait, Jitter: 2. / 3}
}

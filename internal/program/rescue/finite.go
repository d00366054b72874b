package rescue

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
)

const (
	// patience is how long a command repeats a write that may succeed later.
	patience = 2 * time.Minute
	// sayEvery is how often it says what it waits for.
	sayEvery = 20 * time.Second
)

// finite is a bucket for a command, which a person or a timer waits for: a write that no wait cures
// is final immediately, another one after patience. Not safe for concurrent use.
type finite struct {
	objstore.Bucket

	notef func(format string, args ...any)

	since time.Time // first failure after the last success; zero for none
	said  time.Time
}

// Put implements objstore.Bucket.
func (f *finite) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	info, err := f.Bucket.Put(ctx, key, body, size, cond)
	now := time.Now()
	switch {
	case err == nil, errors.Is(err, objstore.ErrPrecondition):
		f.since, f.said = time.Time{}, time.Time{}
		return info, err
	case errors.Is(err, context.Canceled):
		return info, err
	case f.since.IsZero():
		f.since = now
	}
	if hopeless(err) || now.Sub(f.since) >= patience {
		return info, objstore.Final(err)
	}
	if now.Sub(f.said) >= sayEvery {
		f.said = now
		f.notef("the copy could not be stored: %v; trying again until %s", err, f.since.Add(patience).Format(time.TimeOnly))
	}
	return info, err
}

// hopeless reports whether a write fails until a person does something: space, rights and folders
// of a directory, keys and buckets of an object store.
func hopeless(err error) bool {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return slices.Contains([]syscall.Errno{
			syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES, syscall.EPERM, syscall.EFBIG, syscall.EIO, syscall.ESTALE, syscall.ENODEV,
			syscall.ENOENT, syscall.ENOTDIR, syscall.EISDIR, syscall.ENOTEMPTY, syscall.EEXIST, syscall.ENAMETOOLONG, syscall.ELOOP, syscall.EMLINK,
		}, errno)
	}
	var answer interface{ HTTPStatusCode() int }
	if !errors.As(err, &answer) {
		return false
	}
	switch code := answer.HTTPStatusCode(); code {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	default:
		return code == http.StatusInsufficientStorage || code >= 400 && code < 500
	}
}

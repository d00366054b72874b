package objstoretest

import (
	"context"
	"io"

	"github.com/svcctl/svcctl/internal/data/objstore"
)

// Op is a kind of request to a bucket.
type Op string

// The requests of a bucket.
const (
	Put    Op = "put"
	Get    Op = "get"
	Stat   Op = "stat"
	List   Op = "list"
	Delete Op = "delete"
)

// Hooked is a bucket that lets Around run its requests: Around calls do, or does
// not, and returns the answer's error. key is the prefix of a listing, and the
// first of the keys of a deletion. Around may be called concurrently.
type Hooked struct {
	objstore.Bucket
	Around func(ctx context.Context, op Op, key string, do func() error) error
}

// Fail is a bucket that answers requests with the errors that fail returns.
func Fail(b objstore.Bucket, fail func(op Op, key string) error) *Hooked {
	return &Hooked{b, func(_ context.Context, op Op, key string, do func() error) error {
		if err := fail(op, key); err != nil {
			return err
		}
		return do()
	}}
}

// Put implements objstore.Bucket.
func (h *Hooked) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (info objstore.Info, err error) {
	err = h.Around(ctx, Put, key, func() error { info, err = h.Bucket.Put(ctx, key, body, size, cond); return err })
	return info, err
}

// Get implements objstore.Bucket.
func (h *Hooked) Get(ctx context.Context, key string, off, n int64) (r io.ReadCloser, info objstore.Info, err error) {
	err = h.Around(ctx, Get, key, func() error { r, info, err = h.Bucket.Get(ctx, key, off, n); return err })
	return r, info, err
}

// Stat implements objstore.Bucket.
func (h *Hooked) Stat(ctx context.Context, key string) (info objstore.Info, err error) {
	err = h.Around(ctx, Stat, key, func() error { info, err = h.Bucket.Stat(ctx, key); return err })
	return info, err
}

// List implements objstore.Bucket.
func (h *Hooked) List(ctx context.Context, prefix, after string, limit int) (page []objstore.Info, err error) {
	err = h.Around(ctx, List, prefix, func() error { page, err = h.Bucket.List(ctx, prefix, after, limit); return err })
	return page, err
}

// Delete implements objstore.Bucket.
func (h *Hooked) Delete(ctx context.Context, keys ...string) error {
	first := ""
	if len(keys) > 0 {
		first = keys[0]
	}
	return h.Around(ctx, Delete, first, func() error { return h.Bucket.Delete(ctx, keys...) })
}

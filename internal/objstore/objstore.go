// Package objstore is object storage as this service uses it: whole objects
// put under conditions, read by range, listed by prefix. Bucket is a plug-in
// point: every implementation passes the suite in objstoretest.
//
// Ownership: a reader returned by Get belongs to the caller, who closes it.
// Concurrency: a Bucket is safe for concurrent use. Durability: a Put that
// returned nil is durable as far as the store promises.
package objstore

import (
	"context"
	"errors"
	"io"
	"time"
)

// The errors callers act on. Implementations wrap them with the key.
var (
	ErrNotExist     = errors.New("object does not exist")
	ErrPrecondition = errors.New("object precondition failed") // a Put or Delete condition did not hold
)

// Bucket is one bucket of a store.
type Bucket interface {
	// Put stores size bytes of body under key, or nothing at all. size -1 means unknown.
	Put(ctx context.Context, key string, body io.Reader, size int64, cond Condition) (Info, error)
	// Get reads n bytes from off; n -1 reads to the end.
	Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, Info, error)
	// Stat describes an object.
	Stat(ctx context.Context, key string) (Info, error)
	// List gives the objects below prefix in key order, up to max per page;
	// after is the key of the last one seen, "" at first.
	List(ctx context.Context, prefix, after string, limit int) ([]Info, error)
	// Delete removes keys; those that do not exist are no error.
	Delete(ctx context.Context, keys ...string) error
}

// Condition guards a Put. The zero value has none.
type Condition struct {
	IfAbsent bool   // create only
	IfMatch  string // the ETag that must be there
}

// Info describes a stored object.
type Info struct {
	Key      string
	Size     int64
	ETag     string
	Modified time.Time
}

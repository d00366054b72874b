// Package objstore defines object storage as this program uses it: whole objects
// put under conditions, read by range, listed by prefix. It has the helpers that
// callers of a Bucket share (Settle, Read, Each, Probe). Packages s3 and dirstore
// implement Bucket, a plug-in point; every implementation passes the suite in
// objstoretest.
//
// Ownership: the caller of Get closes the reader. Concurrency: a Bucket is safe
// for concurrent use. Durability: after Put returned nil the object is as durable
// as the object store guarantees.
package objstore

import (
	"context"
	"errors"
	"io"
	"time"
)

// The errors that callers handle. Implementations wrap them with the key.
var (
	// ErrNotExist reports that the object does not exist.
	ErrNotExist = errors.New("object does not exist")
	// ErrPrecondition reports that the condition of a Put or Delete did not hold.
	ErrPrecondition = errors.New("object precondition failed")
)

// Bucket is one bucket of an object store.
type Bucket interface {
	// Put stores size bytes of body under key, or nothing. size -1 means unknown.
	Put(ctx context.Context, key string, body io.Reader, size int64, cond Condition) (Info, error)
	// Get reads n bytes from off; n -1 reads to the end.
	Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, Info, error)
	// Stat describes an object.
	Stat(ctx context.Context, key string) (Info, error)
	// List returns at most limit objects below prefix, in key order, after the key
	// after, which is "" for the first page.
	List(ctx context.Context, prefix, after string, limit int) ([]Info, error)
	// Delete deletes keys. It ignores keys that do not exist.
	Delete(ctx context.Context, keys ...string) error
}

// Condition guards a Put. The zero value has none.
type Condition struct {
	IfAbsent bool   // create only
	IfMatch  string // the ETag that the object must have
}

// Info describes a stored object.
type Info struct {
	Key      string
	Size     int64
	ETag     string
	Modified time.Time
}

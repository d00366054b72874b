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

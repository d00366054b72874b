package volume

import (
	"context"
	"io"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// Blobs are bodies too large for a row: immutable objects in the object store, which
// rows of SharedDatabase name by their keys. A child names the blobs of its ancestors
// by its inherited rows; nothing is copied.
//
// Reference and Unreference record in the same database which blobs rows name, in the
// transactions that change such rows. A blob that no version names is deleted by
// garbage collection.
type Blobs interface {
	// Put stores size bytes of body in the object store and returns the key. It
	// stores nothing before it has read body to its end, so an error of the last read
	// still prevents it. A blob without a Reference is deleted after some hours.
	Put(ctx context.Context, body io.Reader, size int64) (key string, err error)
	// Get reads n bytes from off, which must exist. The caller closes the reader.
	Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, error)
	// Reference records, in the transaction open on c, that a row names a blob that
	// Put has just stored. Only one row may ever name a blob.
	Reference(c *raw.Conn, key string) error
	// Unreference records, in the transaction open on c, that the row no longer names
	// the blob.
	Unreference(c *raw.Conn, key string) error
}

package binding

import (
	"context"
	"io"

	"github.com/svcctl/svcctl/internal/sqlite/raw"
)

// SharedStore is the store that the kinds share whose resources are many and
// small. Its rows name blobs.
const SharedStore = "sys"

// Blobs are bodies too large for a row: immutable objects in object storage,
// which rows of SharedStore name by their keys. A branch shares those of its
// ancestors: it has the rows, and nothing is copied.
//
// Which blobs rows name is written down in the same store, in the transactions
// that change such rows, by Keep and Drop. What no version names any more is
// deleted in the end.
type Blobs interface {
	// Put stores size bytes of body and gives the key. They are in the object
	// store when it returns. Nothing is stored before body has been read to its
	// end, so a body can still refuse itself by its last error. A blob that is
	// not kept within the hours that follow is deleted.
	Put(ctx context.Context, body io.Reader, size int64) (key string, err error)
	// Get reads the n bytes from off, which must be there. The caller closes it.
	Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, error)
	// Keep notes, in the transaction open on c, that a row names a blob that Put
	// has just made. One row names it, whatever becomes of the row.
	Keep(c *raw.Conn, key string) error
	// Drop notes, likewise, that the row is gone.
	Drop(c *raw.Conn, key string) error
}

package dataplane

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// keepWithin is how long after it was named a blob can be kept. It is far
	// shorter than the age at which one that nothing names counts as left over.
	keepWithin = 6 * time.Hour
	orphanAge  = 24 * time.Hour
)

// blobSchema is the table of the blobs that rows name, in the shared store. A
// dead one is named no more, and the object store has yet to be told.
const blobSchema = `CREATE TABLE IF NOT EXISTS blob (
	key  TEXT PRIMARY KEY,
	dead INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID`

const (
	sqlKeepBlob = `INSERT INTO blob (key) VALUES (?1)`
	sqlDropBlob = `UPDATE blob SET dead = 1 WHERE key = ?1 AND dead = 0`
)

// blobs are the blobs of one version.
type blobs struct{ v *Volumes }

var _ binding.Blobs = blobs{}

// Blobs gives the blobs that rows of the shared store name.
func (v *Volumes) Blobs() binding.Blobs { return blobs{v} }

// Put stores a blob under a new name. The store's position is read before: what
// will name the blob is a later transaction.
func (b blobs) Put(ctx context.Context, body io.Reader, size int64) (string, error) {
	if err := b.v.fate.check(); err != nil {
		return "", err
	}
	s, err := b.v.Store(ctx, binding.SharedStore)
	if err != nil {
		return "", err
	}
	spooled, err := spool(body, size, b.v.Temp)
	if err != nil {
		return "", err
	}
	defer spooled.Close()
	key := branch.NewBlob(b.v.cfg.Ref, s.History().Head+1).Key()
	try, cancel := context.WithTimeout(ctx, appendLimit+time.Duration(size/slowLine)*time.Second)
	defer cancel()
	if _, err := objstore.Settle(try, b.v.cfg.Bucket, key, spooled, size, objstore.Condition{IfAbsent: true}); err != nil {
		return "", svc.Errorf(svc.Unavailable, "blob_not_stored", "the object store does not take the body").Because(err)
	}
	b.v.bodies.keep(key, spooled, size)
	return key, nil
}

// Get reads a part of a blob, of this version or of an ancestor.
func (b blobs) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, error) {
	if err := b.v.fate.check(); err != nil {
		return nil, err
	}
	return b.v.bodies.open(&blobReader{ctx: ctx, bucket: b.v.cfg.Bucket, key: key, at: off, left: n})
}

// Keep notes that a row names the blob.
func (b blobs) Keep(c *raw.Conn, key string) error {
	made, ok := branch.ParseBlob(key)
	if !ok || made.Version != b.v.cfg.Ref || time.Since(made.Made()) > keepWithin {
		return fmt.Errorf("%s is no blob that was just stored", key)
	}
	if err := c.Exec(blobSchema); err != nil {
		return err
	}
	return c.Exec(sqlKeepBlob, key)
}

// Drop notes that no row names the blob any more.
func (b blobs) Drop(c *raw.Conn, key string) error {
	if err := c.Exec(sqlDropBlob, key); err != nil {
		return err
	}
	if c.Changes() != 1 {
		return fmt.Errorf("%s is dropped, which nothing has kept", key)
	}
	for _, s := range *b.v.open.Load() {
		if s.name == binding.SharedStore {
			poke(s.blobDropped)
		}
	}
	return nil
}

package dataplane

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// referenceWithin is how long after its creation a blob can be referenced. It is
	// far shorter than orphanAge, the age at which an unnamed blob is unreferenced.
	referenceWithin = 6 * time.Hour
	orphanAge       = 24 * time.Hour
)

// blobSchema is the table of the blobs that rows name, in the shared database. No row names a
// dead one, which is not yet recorded in the object store.
const blobSchema = `CREATE TABLE IF NOT EXISTS blob (
	key  TEXT PRIMARY KEY,
	dead INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID`

const (
	sqlReferenceBlob   = `INSERT INTO blob (key) VALUES (?1)`
	sqlUnreferenceBlob = `UPDATE blob SET dead = 1 WHERE key = ?1 AND dead = 0`
)

// blobs are the blobs of one version.
type blobs struct{ v *Volumes }

var _ volume.Blobs = blobs{}

// Blobs returns the blobs that rows of the shared database name.
func (v *Volumes) Blobs() volume.Blobs { return blobs{v} }

// Put stores a blob under a new name. It reads the database's position first: only a later
// transaction will name the blob.
func (b blobs) Put(ctx context.Context, body io.Reader, size int64) (string, error) {
	if err := cmp.Or(b.v.revoked.check(), b.v.gate.mayWrite(ctx)); err != nil {
		return "", err
	}
	db, err := b.v.Database(ctx, volume.SharedDatabase)
	if err == nil {
		err = b.v.room.takeBlob(ctx, size)
	}
	if err != nil {
		return "", err
	}
	spooled, err := spool(body, size, b.v.Temp)
	if err != nil {
		return "", err
	}
	defer spooled.Close()
	key := branch.NewBlob(b.v.cfg.Ref, db.History().Head+1).Key()
	try, cancel := context.WithTimeout(ctx, appendLimit+time.Duration(size/slowLine)*time.Second)
	defer cancel()
	if _, err := objstore.Settle(try, b.v.cfg.Bucket, key, spooled, size, objstore.Condition{IfAbsent: true}); err != nil {
		return "", svc.Errorf(svc.Unavailable, svc.CodeBlobNotStored, "the object store did not store the body").Because(err)
	}
	b.v.bodies.keep(key, spooled, size)
	return key, nil
}

// Get reads a part of a blob, of this version or of an ancestor.
func (b blobs) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, error) {
	if err := b.v.revoked.check(); err != nil {
		return nil, err
	}
	return b.v.bodies.open(&blobReader{ctx: ctx, bucket: b.v.cfg.Bucket, key: key, at: off, left: n})
}

// Reference records that a row names the blob.
func (b blobs) Reference(c *raw.Conn, key string) error {
	made, ok := branch.ParseBlob(key)
	if !ok || made.Version != b.v.cfg.Ref || time.Since(made.Made()) > referenceWithin {
		return fmt.Errorf("reference blob %s: it was not stored recently by this version", key)
	}
	if err := c.Exec(blobSchema); err != nil {
		return err
	}
	return c.Exec(sqlReferenceBlob, key)
}

// Unreference records that no row names the blob any more.
func (b blobs) Unreference(c *raw.Conn, key string) error {
	if err := c.Exec(sqlUnreferenceBlob, key); err != nil {
		return err
	}
	if c.Changes() != 1 {
		return fmt.Errorf("unreference blob %s: it is not referenced", key)
	}
	for _, db := range *b.v.open.Load() {
		if db.name == volume.SharedDatabase {
			poke(db.blobUnreferenced)
		}
	}
	return nil
}

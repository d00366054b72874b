package objects

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
)

// bucket is one bucket: an Instance.
type bucket struct {
	id    int64
	db    volume.Database
	blobs volume.Blobs
}

func open(ctx context.Context, name string, db volume.Database, blobs volume.Blobs) (*bucket, error) {
	b := &bucket{db: db, blobs: blobs}
	err := db.Write(ctx, func(c *raw.Conn) (err error) {
		b.id, err = prepare(c, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening the bucket %q: %w", name, err)
	}
	return b, nil
}

// Close leaves the database to its owner.
func (b *bucket) Close() error { return nil }

// head gives an object; errNoKey if it does not exist.
func (b *bucket) head(ctx context.Context, key string) (o *object, err error) {
	err = b.db.Read(ctx, func(c *raw.Conn) error {
		o, err = b.find(c, sqlHead, key)
		return err
	})
	if err == nil && o == nil {
		err = errNoKey
	}
	return o, err
}

// remove deletes the objects that there are of these.
func (b *bucket) remove(ctx context.Context, keys []string) error {
	return b.write(ctx, func(c *raw.Conn) error {
		for _, key := range keys {
			o, err := b.find(c, sqlHead, key)
			if err != nil {
				return err
			}
			if o == nil {
				continue
			}
			if err := b.dropBody(c, o.id); err != nil {
				return err
			}
			if err := c.Exec(sqlDelete, o.id); err != nil {
				return err
			}
		}
		return nil
	})
}

// write runs fn as one transaction.
func (b *bucket) write(ctx context.Context, fn func(*raw.Conn) error) error {
	return b.db.Write(ctx, func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error { return fn(c) })
	})
}

// dropBody takes the blobs from an object.
func (b *bucket) dropBody(c *raw.Conn, entry int64) error {
	all, err := pieces(c, entry)
	if err != nil || len(all) == 0 {
		return err
	}
	for _, p := range all {
		if err := b.blobs.Unreference(c, p.blob); err != nil {
			return err
		}
	}
	return c.Exec(sqlDropBlobs, entry)
}

// replace stores o with its body, which is in o or in these blobs, in place of
// what has its key.
func (b *bucket) replace(c *raw.Conn, o *object, body []piece) error {
	old, err := b.find(c, sqlHead, o.key)
	if err != nil {
		return err
	}
	if old != nil {
		if err := b.dropBody(c, old.id); err != nil {
			return err
		}
	}
	var inline any
	if o.inline {
		inline = o.body
	}
	args := []any{
		b.id, o.key, o.version, o.size, o.etag, o.uploaded, o.class,
		nullable(o.checksums), nullable(o.http), nullable(o.custom), inline,
	}
	if err := c.Query(sqlPut, args, func(s *raw.Stmt) error { o.id = s.Int64(0); return nil }); err != nil {
		return err
	}
	for i, p := range body {
		if err := c.Exec(sqlPutBlob, o.id, i, p.size, p.blob); err != nil {
			return err
		}
	}
	return nil
}

// nullable is text, or NULL for "".
func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}

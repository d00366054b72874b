package objects

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/sqlite/raw"
)

// bucket is one bucket: an Instance.
type bucket struct {
	id    int64
	store binding.Store
	blobs binding.Blobs
}

func open(ctx context.Context, name string, store binding.Store, blobs binding.Blobs) (*bucket, error) {
	b := &bucket{store: store, blobs: blobs}
	err := store.Write(ctx, func(c *raw.Conn) (err error) {
		b.id, err = prepare(c, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening the bucket %q: %w", name, err)
	}
	return b, nil
}

// Close leaves the store to its owner.
func (b *bucket) Close() error { return nil }

// head gives an object; errNoKey when there is none.
func (b *bucket) head(ctx context.Context, key string) (o *object, err error) {
	err = b.store.Read(ctx, func(c *raw.Conn) error {
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
	return b.store.Write(ctx, func(c *raw.Conn) error {
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
		if err := b.blobs.Drop(c, p.blob); err != nil {
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

// described is a new object with what a request says about it.
func described(q *request, key string) (*object, error) {
	o := &object{key: key, version: newID(), class: q.StorageClass}
	switch {
	case o.class == "":
		o.class = "Standard"
	case o.class != "Standard" && o.class != "InfrequentAccess":
		return nil, invalid("The storage class %q is not valid.", o.class)
	}
	if len(q.SSEC) > 0 {
		return nil, invalid("Encryption with keys of the caller is not supported: encrypt the body before it is stored.")
	}
	if err := checkMetadata(q.CustomFields); err != nil {
		return nil, err
	}
	return o, o.describe(q.HTTPFields, q.CustomFields)
}

func (o *object) describe(fields *httpFields, custom []customField) error {
	if fields != nil && *fields != (httpFields{}) {
		text, err := json.Marshal(fields)
		if err != nil {
			return fmt.Errorf("encoding metadata: %w", err)
		}
		o.http = string(text)
	}
	if len(custom) > 0 {
		text, err := json.Marshal(custom)
		if err != nil {
			return fmt.Errorf("encoding metadata: %w", err)
		}
		o.custom = string(text)
	}
	return nil
}

// newID names a version of an object.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // it never fails
	return hex.EncodeToString(id[:])
}

// put stores what body gives under the key that q names, unless q's condition
// does not hold: before the body is stored, and again when the row is written.
func (b *bucket) put(ctx context.Context, q *request, body io.Reader, size int64) (*object, error) {
	key, err := q.key()
	if err == nil && size > maxBody {
		err = errTooLarge
	}
	if err != nil {
		return nil, err
	}
	o, err := described(q, key)
	if err != nil {
		return nil, err
	}
	o.size = size
	digests, err := q.digests()
	if err != nil {
		return nil, err
	}
	body = &checked{from: body, digests: digests, verify: func() error {
		if err := compare(digests); err != nil || q.OnlyIf == nil {
			return err
		}
		return b.store.Read(ctx, func(c *raw.Conn) error { return b.permit(c, q, key) })
	}}
	blobs, err := b.take(ctx, o, body)
	if err != nil {
		return nil, err
	}
	if o.etag, o.checksums, err = sums(digests); err != nil {
		return nil, err
	}
	return o, b.commit(ctx, q, o, blobs)
}

// take brings a body where it belongs: into o, or into a blob.
func (b *bucket) take(ctx context.Context, o *object, body io.Reader) ([]piece, error) {
	if o.size > inlineBody {
		key, err := b.blobs.Put(ctx, body, o.size)
		return []piece{{o.size, key}}, err
	}
	text, err := io.ReadAll(body)
	if err == nil && int64(len(text)) != o.size {
		err = fmt.Errorf("a body has %d bytes, and %d were announced", len(text), o.size)
	}
	o.body, o.inline = text, true
	return nil, err
}

// permit is errFailed when q's condition does not hold.
func (b *bucket) permit(c *raw.Conn, q *request, key string) error {
	if q.OnlyIf == nil {
		return nil
	}
	old, err := b.find(c, sqlHead, key)
	if err == nil && !q.OnlyIf.holds(old) {
		err = errFailed
	}
	return err
}

// commit makes o what its key names. Blobs that are not needed after all are
// dropped in the same transaction.
func (b *bucket) commit(ctx context.Context, q *request, o *object, blobs []piece) error {
	var refused error
	err := b.write(ctx, func(c *raw.Conn) error {
		for _, p := range blobs {
			if err := b.blobs.Keep(c, p.blob); err != nil {
				return err
			}
		}
		switch refused = b.permit(c, q, o.key); {
		case refused == nil:
			o.uploaded = time.Now().UnixMilli()
			return b.replace(c, o, blobs)
		case refused != errFailed: //nolint:errorlint // made here and never wrapped
			return refused
		}
		for _, p := range blobs {
			if err := b.blobs.Drop(c, p.blob); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = refused
	}
	return err
}

package objects

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

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
// also, which may be nil, is part of that transaction.
func (b *bucket) put(ctx context.Context, q *request, body io.Reader, size int64, also func(*raw.Conn) error) (*object, error) {
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
		return b.db.Read(ctx, func(c *raw.Conn) error { return b.permit(c, q, key) })
	}}
	blobs, err := b.take(ctx, o, body)
	if err != nil {
		return nil, err
	}
	if o.etag, o.checksums, err = sums(digests); err != nil {
		return nil, err
	}
	return o, b.commit(ctx, q, o, blobs, also)
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
func (b *bucket) commit(ctx context.Context, q *request, o *object, blobs []piece, also func(*raw.Conn) error) error {
	var refused error
	err := b.write(ctx, func(c *raw.Conn) error {
		for _, p := range blobs {
			if err := b.blobs.Reference(c, p.blob); err != nil {
				return err
			}
		}
		switch refused = b.permit(c, q, o.key); {
		case refused == nil && also != nil:
			if err := also(c); err != nil {
				return err
			}
			fallthrough
		case refused == nil:
			o.uploaded = time.Now().UnixMilli()
			return b.replace(c, o, blobs)
		case refused != errFailed: //nolint:errorlint // made here and never wrapped
			return refused
		}
		for _, p := range blobs {
			if err := b.blobs.Unreference(c, p.blob); err != nil {
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

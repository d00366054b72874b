package objects

import (
	"context"
	"crypto/md5" //nolint:gosec // what the protocol has
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// The states of an upload.
const (
	uploadOpen = iota
	uploadCompleted
	uploadAborted
)

// uploadKept is how long an upload may take before it is aborted, and how long
// a finished one is remembered.
const (
	uploadKept  = 7 * 24 * time.Hour
	sweepAtOnce = 20 // old uploads that a new one removes at most
)

const (
	sqlNewUpload = `INSERT INTO object_upload (id, bucket, key, created, state, class, http, custom) VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7)`
	sqlUpload    = `SELECT state, class, http, custom FROM object_upload WHERE id = ?1 AND bucket = ?2 AND key = ?3`
	sqlSetState  = `UPDATE object_upload SET state = ?2 WHERE id = ?1`
	sqlOld       = `SELECT id FROM object_upload WHERE created < ?1 LIMIT ?2`
	sqlForget    = `DELETE FROM object_upload WHERE id = ?1`
	sqlPutPart   = `INSERT OR REPLACE INTO object_part (upload, number, size, md5, blob) VALUES (?1, ?2, ?3, ?4, ?5)`
	sqlParts     = `SELECT number, size, md5, blob FROM object_part WHERE upload = ?1 ORDER BY number`
	sqlPart      = `SELECT blob FROM object_part WHERE upload = ?1 AND number = ?2`
	sqlDropParts = `DELETE FROM object_part WHERE upload = ?1`
)

// upload is a multipart upload that has begun.
type upload struct {
	id                  string
	state               int64
	class, http, custom string
}

// uploadedPart is one part of it.
type uploadedPart struct {
	number int
	md5    string // its etag
	piece
}

// createUpload begins an upload, and removes some that are too old.
func (b *bucket) createUpload(ctx context.Context, q *request) (id string, err error) {
	key, err := q.key()
	if err != nil {
		return "", err
	}
	o, err := described(q, key)
	if err != nil {
		return "", err
	}
	var random [32]byte
	_, _ = rand.Read(random[:]) // it never fails
	id = base64.RawURLEncoding.EncodeToString(random[:])
	now := time.Now()
	return id, b.write(ctx, func(c *raw.Conn) error {
		if err := b.sweepUploads(c, now.Add(-uploadKept)); err != nil {
			return err
		}
		return c.Exec(sqlNewUpload, id, b.id, key, now.UnixMilli(), o.class, nullable(o.http), nullable(o.custom))
	})
}

func (b *bucket) sweepUploads(c *raw.Conn, before time.Time) error {
	var old []string
	err := c.Query(sqlOld, []any{before.UnixMilli(), sweepAtOnce}, func(s *raw.Stmt) error {
		old = append(old, s.Text(0))
		return nil
	})
	for _, id := range old {
		if err == nil {
			err = b.dropParts(c, id)
		}
		if err == nil {
			err = c.Exec(sqlForget, id)
		}
	}
	return err
}

// upload gives the upload that q names, nil if it does not exist.
func (q *request) upload(b *bucket, c *raw.Conn) (u *upload, err error) {
	err = c.Query(sqlUpload, []any{q.UploadID, b.id, *q.Object}, func(s *raw.Stmt) error {
		u = &upload{q.UploadID, s.Int64(0), s.Text(1), s.Text(2), s.Text(3)}
		return nil
	})
	return u, err
}

// putPart stores a part, in place of one of its number, and gives its etag.
func (b *bucket) putPart(ctx context.Context, q *request, body io.Reader, size int64) (etag string, err error) {
	switch _, err := q.key(); {
	case err != nil:
		return "", err
	case size > maxBody:
		return "", errTooLarge
	case q.PartNumber < 1 || q.PartNumber > maxPartNumber:
		return "", invalid("Part numbers are from 1 to %d.", maxPartNumber)
	}
	sum := md5.New() //nolint:gosec // see above
	blob, err := b.blobs.Put(ctx, &checked{from: body, digests: []digest{{"0", "MD5", sum, nil}}, verify: func() error {
		return b.db.Read(ctx, func(c *raw.Conn) error {
			u, err := q.upload(b, c)
			if err == nil && (u == nil || u.state != uploadOpen) {
				err = errNoUpload
			}
			return err
		})
	}}, size)
	if err != nil {
		return "", err
	}
	etag = hex.EncodeToString(sum.Sum(nil))
	return etag, b.commitPart(ctx, q, uploadedPart{q.PartNumber, etag, piece{size, blob}})
}

// commitPart makes a part one of its upload. When that has ended meanwhile the
// part is dropped.
func (b *bucket) commitPart(ctx context.Context, q *request, p uploadedPart) error {
	var refused error
	err := b.write(ctx, func(c *raw.Conn) error {
		if err := b.blobs.Reference(c, p.blob); err != nil {
			return err
		}
		u, err := q.upload(b, c)
		if err != nil {
			return err
		}
		if u == nil || u.state != uploadOpen {
			refused = errNoUpload
			return b.blobs.Unreference(c, p.blob)
		}
		if err := b.dropPart(c, u.id, p.number); err != nil {
			return err
		}
		return c.Exec(sqlPutPart, u.id, p.number, p.size, p.md5, p.blob)
	})
	if err == nil {
		err = refused
	}
	return err
}

// dropPart drops the part of that number, if there is one.
func (b *bucket) dropPart(c *raw.Conn, id string, number int) error {
	old := ""
	err := c.Query(sqlPart, []any{id, number}, func(s *raw.Stmt) error {
		old = s.Text(0)
		return nil
	})
	if err != nil || old == "" {
		return err
	}
	return b.blobs.Unreference(c, old)
}

// partsOf are the parts of an upload, in order.
func partsOf(c *raw.Conn, id string) (all []uploadedPart, err error) {
	err = c.Query(sqlParts, []any{id}, func(s *raw.Stmt) error {
		all = append(all, uploadedPart{int(s.Int64(0)), s.Text(2), piece{s.Int64(1), s.Text(3)}})
		return nil
	})
	return all, err
}

// dropParts drops the parts of an upload.
func (b *bucket) dropParts(c *raw.Conn, id string) error {
	all, err := partsOf(c, id)
	for _, p := range all {
		if err == nil {
			err = b.blobs.Unreference(c, p.blob)
		}
	}
	if err != nil {
		return err
	}
	return c.Exec(sqlDropParts, id)
}

// abortUpload deletes what was uploaded. An upload that has ended is unchanged.
func (b *bucket) abortUpload(ctx context.Context, q *request) error {
	if _, err := q.key(); err != nil {
		return err
	}
	return b.write(ctx, func(c *raw.Conn) error {
		u, err := q.upload(b, c)
		switch {
		case err != nil:
			return err
		case u == nil:
			return errInternal
		case u.state != uploadOpen:
			return nil
		}
		if err := b.dropParts(c, u.id); err != nil {
			return err
		}
		return c.Exec(sqlSetState, u.id, uploadAborted)
	})
}

// completeUpload makes an object of the parts that q names.
func (b *bucket) completeUpload(ctx context.Context, q *request) (o *object, err error) {
	if _, err := q.key(); err != nil {
		return nil, err
	}
	return o, b.write(ctx, func(c *raw.Conn) error {
		u, err := q.upload(b, c)
		switch {
		case err != nil:
			return err
		case u == nil:
			return errInternal
		case u.state != uploadOpen:
			return errNoUpload
		}
		all, err := partsOf(c, u.id)
		if err != nil {
			return err
		}
		chosen, err := q.choose(all)
		if err != nil {
			return err
		}
		o, err = b.assemble(c, u, *q.Object, all, chosen)
		return err
	})
}

// assemble makes the object. Parts that were not chosen are dropped; the others
// stay the blobs that they are.
func (b *bucket) assemble(c *raw.Conn, u *upload, key string, all, chosen []uploadedPart) (*object, error) {
	o := &object{key: key, version: newID(), class: u.class, http: u.http, custom: u.custom, uploaded: time.Now().UnixMilli()}
	sum := md5.New() //nolint:gosec // see above
	body := make([]piece, len(chosen))
	for i, p := range chosen {
		digest, err := hex.DecodeString(p.md5)
		if err != nil {
			return nil, fmt.Errorf("the etag of a part: %w", err)
		}
		_, _ = sum.Write(digest) // it never fails
		body[i] = p.piece
		o.size += p.size
	}
	o.etag = fmt.Sprintf("%x-%d", sum.Sum(nil), len(chosen))
	for _, p := range all {
		if _, used := slices.BinarySearchFunc(chosen, p, byNumber); !used {
			if err := b.blobs.Unreference(c, p.blob); err != nil {
				return nil, err
			}
		}
	}
	if err := c.Exec(sqlDropParts, u.id); err != nil {
		return nil, err
	}
	if err := b.replace(c, o, body); err != nil {
		return nil, err
	}
	return o, c.Exec(sqlSetState, u.id, uploadCompleted)
}

// choose finds the parts that q names, in the order of their numbers.
func (q *request) choose(all []uploadedPart) ([]uploadedPart, error) {
	chosen := make([]uploadedPart, 0, len(q.Parts))
	seen := map[int]bool{}
	for _, want := range q.Parts {
		if seen[want.Part] {
			return nil, errInternal
		}
		seen[want.Part] = true
	}
	for _, want := range q.Parts {
		i, found := slices.BinarySearchFunc(all, uploadedPart{number: want.Part}, byNumber)
		if !found || all[i].md5 != want.ETag {
			return nil, errPart
		}
		chosen = append(chosen, all[i])
	}
	for i, p := range chosen {
		if i < len(chosen)-1 && p.size < minPart {
			return nil, errTooSmall
		}
	}
	slices.SortFunc(chosen, byNumber)
	return chosen, sameSizes(chosen)
}

func byNumber(a, b uploadedPart) int { return a.number - b.number }

// sameSizes refuses parts that differ in size. The last may be smaller.
func sameSizes(parts []uploadedPart) error {
	for i, p := range parts {
		last := i == len(parts)-1
		if first := parts[0].size; p.size > first || !last && (p.size < first || p.size < minPart) {
			return errUpload
		}
	}
	return nil
}

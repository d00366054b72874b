package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// get gives an object and the part of its body that q asks for, which the
// caller closes.
func (b *bucket) get(ctx context.Context, q *request) (*object, io.ReadCloser, error) {
	key, err := q.key()
	if err != nil {
		return nil, nil, err
	}
	var o *object
	var all []piece
	err = b.db.Read(ctx, func(c *raw.Conn) error {
		if o, err = b.find(c, sqlGet, key); err != nil || o == nil || o.inline {
			return err
		}
		return c.InTx("BEGIN", func() error { // a consistent view of the row and its blobs
			if o, err = b.find(c, sqlGet, key); err == nil && o != nil {
				all, err = pieces(c, o.id)
			}
			return err
		})
	})
	switch {
	case err != nil:
		return nil, nil, err
	case o == nil:
		return nil, nil, errNoKey
	}
	o.span = &wireSpan{0, o.size}
	if !q.OnlyIf.holds(o) {
		return nil, nil, failedOn(o)
	}
	span, err := q.spanOf(o.size)
	if err != nil {
		return nil, nil, err
	}
	o.span = &span
	if o.inline {
		return o, io.NopCloser(bytes.NewReader(o.body[span.Offset:][:span.Length])), nil
	}
	r := &bodyReader{ctx: ctx, bucket: b, parts: cut(all, span)}
	return o, r, r.next()
}

// part is what is read of one blob.
type part struct {
	blob   string
	off, n int64
}

// cut gives the parts of blobs that make up a part of a body.
func cut(all []piece, span wireSpan) (parts []part) {
	for _, p := range all {
		off := max(0, span.Offset)
		n := min(p.size, span.Offset+span.Length) - off
		if n > 0 {
			parts = append(parts, part{p.blob, off, n})
		}
		span.Offset -= p.size
	}
	return parts
}

// bodyReader reads parts of blobs, one after another.
type bodyReader struct {
	ctx    context.Context //nolint:containedctx // of the request that reads
	bucket *bucket
	parts  []part // yet to be opened
	open   io.ReadCloser
	left   int64 // of what is open
}

// next opens the next part, if there is one.
func (r *bodyReader) next() (err error) {
	if r.open != nil {
		_ = r.open.Close() // it was read to its end
		r.open = nil
	}
	if len(r.parts) == 0 {
		return nil
	}
	p := r.parts[0]
	r.parts = r.parts[1:]
	r.left = p.n
	r.open, err = r.bucket.blobs.Get(r.ctx, p.blob, p.off, p.n)
	return err
}

// Read reads on.
func (r *bodyReader) Read(p []byte) (int, error) {
	for r.open != nil {
		n, err := r.open.Read(p)
		r.left -= int64(n)
		switch {
		case n > 0:
			return n, nil // an error comes again
		case errors.Is(err, io.EOF) && r.left == 0:
			if err := r.next(); err != nil {
				return 0, err
			}
		case err != nil:
			return 0, fmt.Errorf("a body ends early: %w", err)
		}
	}
	return 0, io.EOF
}

// WriteTo writes the rest to w, each part in the fastest way that it and w have.
func (r *bodyReader) WriteTo(w io.Writer) (total int64, err error) {
	for r.open != nil {
		n, err := io.Copy(w, r.open)
		total += n
		if r.left -= n; err == nil && r.left > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return total, fmt.Errorf("a body ends early: %w", err)
		}
		if err := r.next(); err != nil {
			return total, err
		}
	}
	return total, nil
}

// Close gives up what is open.
func (r *bodyReader) Close() error {
	if r.open == nil {
		return nil
	}
	return r.open.Close()
}

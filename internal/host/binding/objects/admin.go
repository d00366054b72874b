package objects

import (
	"context"
	"net/http"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

const defaultListed = 100

var (
	_ binding.Admin    = Kind{}
	_ binding.Measured = (*bucket)(nil)
	_ binding.Stored   = (*bucket)(nil)
)

// Admin gives the operations on buckets [D38].
func (Kind) Admin(open []binding.Opened) map[string]binding.Operation {
	one := func(do func(*bucket, http.ResponseWriter, *http.Request) error) binding.Operation {
		return binding.One(open, "bucket", "object store", func(b *bucket, w http.ResponseWriter, r *http.Request) error {
			return adminError(do(b, w, r))
		})
	}
	return map[string]binding.Operation{
		"GET /objects":                      binding.Overview(open),
		"GET /objects/{bucket}":             binding.Timed(one(list)),
		"GET /objects/{bucket}/{key...}":    one(get),
		"PUT /objects/{bucket}/{key...}":    one(put),
		"DELETE /objects/{bucket}/{key...}": one(remove),
	}
}

// History is that of the database.
func (b *bucket) History() volume.History { return b.db.History() }

// Stats tells the number of objects and the bytes of their bodies.
func (b *bucket) Stats(ctx context.Context) (map[string]int64, error) {
	count, size, err := b.measure(ctx)
	return map[string]int64{"objects": count, "size_bytes": size}, err
}

func (b *bucket) measure(ctx context.Context) (count, size int64, err error) {
	err = b.db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(sqlMeasure, []any{b.id}, func(s *raw.Stmt) error {
			count, size = s.Int64(0), s.Int64(1)
			return nil
		})
	})
	return count, size, err
}

func list(b *bucket, w http.ResponseWriter, r *http.Request) error {
	limit, err := binding.ListLimit(r, defaultListed, maxListed)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	f := filter{prefix: query.Get("prefix"), delimiter: query.Get("delimiter"), limit: limit}
	if err := checkLength(f.prefix); err != nil {
		return err
	}
	scope := binding.Scope("objects", r.PathValue("bucket"), f.prefix, f.delimiter)
	if err := binding.ReadCursor(scope, query.Get("cursor"), &f.after); err != nil {
		return err
	}
	page, err := b.list(r.Context(), f)
	if err != nil {
		return err
	}
	shown := shownPage{Items: make([]shownObject, len(page.objects)), Prefixes: page.prefixes}
	for i := range page.objects {
		if shown.Items[i], err = page.objects[i].shown(); err != nil {
			return err
		}
	}
	if shown.Prefixes == nil {
		shown.Prefixes = []string{}
	}
	if page.last != "" {
		cursor, err := binding.Cursor(scope, page.last)
		if err != nil {
			return err
		}
		shown.Next = &cursor
	}
	return binding.WriteJSON(w, shown)
}

// adminError gives the refusals that a worker sees their codes in the API.
func adminError(err error) error {
	r, ok := err.(*refusal) //nolint:errorlint // made here and never wrapped
	if !ok {
		return err
	}
	switch r.code {
	case codeNoKey:
		return svc.Errorf(svc.NotFound, svc.CodeObjectNotFound, "there is no such object")
	case errName.code:
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidKey, "a key may have at most %d bytes", maxKey)
	case errTooLarge.code:
		return svc.Errorf(svc.TooLarge, svc.CodeObjectTooLarge, "an object may have at most %d bytes", int64(maxBody))
	case errMetadata.code:
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidMetadata, "custom metadata may have at most %d bytes", maxMetadata)
	case codeInternal:
		return err
	}
	return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "%s", r.text)
}

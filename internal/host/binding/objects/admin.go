package objects

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	defaultListed = 100
	adminTime     = 30 * time.Second // for what passes no bodies
)

var (
	_ binding.Admin    = Kind{}
	_ binding.Measured = (*bucket)(nil)
	_ binding.Stored   = (*bucket)(nil)
)

// Admin gives the operations on buckets [D38].
func (Kind) Admin(open []binding.Opened) map[string]binding.Operation {
	a := admin{open}
	return map[string]binding.Operation{
		"GET /objects":                      a.buckets,
		"GET /objects/{bucket}":             a.one(a.list),
		"GET /objects/{bucket}/{key...}":    a.one(a.get),
		"PUT /objects/{bucket}/{key...}":    a.one(a.put),
		"DELETE /objects/{bucket}/{key...}": a.one(a.remove),
	}
}

type admin struct{ open []binding.Opened }

// one finds the bucket that a path names by its binding.
func (a admin) one(do func(*bucket, http.ResponseWriter, *http.Request) error) binding.Operation {
	return func(w http.ResponseWriter, r *http.Request) error {
		o, err := binding.Pick(a.open, r.PathValue("bucket"), "object store")
		if err != nil {
			return err
		}
		b, err := bucketOf(o)
		if err != nil {
			return err
		}
		return adminError(do(b, w, r))
	}
}

func bucketOf(o binding.Opened) (*bucket, error) {
	b, ok := o.Instance.(*bucket)
	if !ok {
		return nil, fmt.Errorf("binding %q is no object store but %T", o.Name, o.Instance)
	}
	return b, nil
}

// listedBucket is one row of GET /objects.
type listedBucket struct {
	Binding string `json:"binding"`
	Objects int64  `json:"objects"`
	Size    int64  `json:"size_bytes"`
}

func (a admin) buckets(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), adminTime)
	defer cancel()
	items := make([]listedBucket, 0, len(a.open))
	for _, o := range a.open {
		b, err := bucketOf(o)
		if err != nil {
			return err
		}
		count, size, err := b.measure(ctx)
		if err != nil {
			return err
		}
		items = append(items, listedBucket{o.Name, count, size})
	}
	return binding.WriteJSON(w, map[string]any{"items": items})
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

func (a admin) list(b *bucket, w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), adminTime)
	defer cancel()
	query := r.URL.Query()
	f := filter{prefix: query.Get("prefix"), delimiter: query.Get("delimiter"), limit: defaultListed}
	if text := query.Get("limit"); text != "" {
		l, err := strconv.Atoi(text)
		if err != nil || l < 1 {
			return svc.Errorf(svc.BadRequest, svc.CodeInvalidLimit, "limit must be a number from 1 to %d", maxListed)
		}
		f.limit = min(l, maxListed)
	}
	if err := checkLength(f.prefix); err != nil {
		return err
	}
	scope := binding.Scope("objects", r.PathValue("bucket"), f.prefix, f.delimiter)
	if err := binding.ReadCursor(scope, query.Get("cursor"), &f.after); err != nil {
		return err
	}
	page, err := b.list(ctx, f)
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
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidKey, "a key may have %d bytes", maxKey)
	case errTooLarge.code:
		return svc.Errorf(svc.TooLarge, svc.CodeObjectTooLarge, "an object may have %d bytes", int64(maxBody))
	case errMetadata.code:
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidMetadata, "custom metadata may have %d bytes", maxMetadata)
	case codeInternal:
		return err
	}
	return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "%s", r.text)
}

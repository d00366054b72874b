package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/svcctl/svcctl/pkg/api"
)

// Buckets lists the buckets of a version.
func (c *Client) Buckets(ctx context.Context, project, version string) ([]api.Bucket, error) {
	resp, err := c.raw.ListBuckets(ctx, project, version)
	list, err := as[api.BucketList](read(resp, err))
	return list.Items, err
}

// R2 is a bucket of a version.
type R2 struct {
	Project, Version string
	Binding          string
}

// Objects gives a page of a bucket's objects whose keys begin with prefix. With
// a delimiter, keys that have it after the prefix are in it once, as a prefix.
func (c *Client) Objects(ctx context.Context, b R2, prefix, delimiter string, p Page) (api.ObjectPage, error) {
	params := &api.ListObjectsParams{Prefix: or(prefix), Delimiter: or(delimiter), Limit: or(p.Limit), Cursor: or(p.Cursor)}
	resp, err := c.raw.ListObjects(ctx, b.Project, b.Version, b.Binding, params)
	return as[api.ObjectPage](read(resp, err))
}

// AllObjects goes through the objects of a bucket whose keys begin with prefix,
// page by page.
func (c *Client) AllObjects(ctx context.Context, b R2, prefix string) iter.Seq2[api.Object, error] {
	return all(func(cursor string) ([]api.Object, *string, error) {
		page, err := c.Objects(ctx, b, prefix, "", Page{Limit: 1000, Cursor: cursor})
		return page.Items, page.NextCursor, err
	})
}

// GetObject gets an object; the caller closes the body, and ctx must last as long.
// The code of the refusal is "object_not_found" when there is none.
func (c *Client) GetObject(ctx context.Context, b R2, key string) (api.Object, io.ReadCloser, error) {
	if err := checkKey(key); err != nil {
		return api.Object{}, nil, err
	}
	resp, err := c.slow.GetObject(ctx, b.Project, b.Version, b.Binding, key)
	if err != nil || resp.StatusCode != http.StatusOK {
		_, err = read(resp, err)
		return api.Object{}, nil, err
	}
	var o api.Object
	if err := json.Unmarshal([]byte(resp.Header.Get(objectMetadata)), &o); err != nil {
		return api.Object{}, nil, errors.Join(fmt.Errorf("the answer is not what the API promises: %w", err), resp.Body.Close())
	}
	return o, resp.Body, nil
}

// objectMetadata is the header with what an object has beside its body.
const objectMetadata = "Svc-Object-Metadata"

// NewObject is what is stored with a body. The zero value stores no more.
type NewObject struct {
	HTTP         api.HTTPMetadata
	Custom       map[string]string
	StorageClass string           // "" for Standard
	Progress     func(sent int64) // nil for none; called with the bytes sent so far
}

// PutObject stores an object of size bytes that body gives. It may take long: ctx
// alone ends it. Nothing is stored when it fails.
func (c *Client) PutObject(ctx context.Context, b R2, key string, body io.Reader, size int64, o NewObject) error { //nolint:revive // what an object is
	if err := checkKey(key); err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"http_metadata": o.HTTP, "custom_metadata": o.Custom, "storage_class": o.StorageClass})
	if err != nil {
		return fmt.Errorf("encoding metadata: %w", err)
	}
	contentType := o.HTTP.ContentType
	if contentType == "" {
		contentType = "application/octet-stream"
	}
	metadata := ascii(string(text))
	progress, over := untilOver(o.Progress)
	defer over()
	params := &api.PutObjectParams{SvcObjectMetadata: &metadata}
	sized := func(_ context.Context, r *http.Request) error {
		r.ContentLength = size
		if size == 0 {
			r.Body = http.NoBody
		}
		return nil
	}
	resp, err := c.slow.PutObjectWithBody(ctx, b.Project, b.Version, b.Binding, key, params, contentType, &counter{next: body, progress: progress}, sized)
	_, err = read(resp, err)
	return err
}

// ascii writes JSON so that a header can carry it.
func ascii(text string) string {
	var out []byte
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return string(out)
}

// DeleteObject deletes an object. One that is not there is no error.
func (c *Client) DeleteObject(ctx context.Context, b R2, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	resp, err := c.raw.DeleteObject(ctx, b.Project, b.Version, b.Binding, key)
	_, err = read(resp, err)
	return err
}

package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/svcctl/svcctl/pkg/api"
)

// Buckets lists the R2 buckets of a version.
//
// Codes: the data codes.
func (c *Client) Buckets(ctx context.Context, project, version string) ([]api.Bucket, error) {
	list, err := ask[api.BucketList](ctx, c, get(ofVersion+"/objects", project, version))
	return list.Items, err
}

// R2 names an R2 bucket of a version.
type R2 struct {
	Project, Version string
	Binding          string
}

// Objects lists one page of a bucket's objects whose keys begin with prefix. With
// a delimiter, the keys that contain it after prefix are rolled up: the page has
// each part up to the delimiter once, in Prefixes.
//
// Codes: the data codes, binding_not_found, invalid_key (the prefix is too long).
func (c *Client) Objects(ctx context.Context, b R2, prefix, delimiter string, p Page) (api.ObjectPage, error) {
	params := api.ListObjectsParams{Prefix: or(prefix), Delimiter: or(delimiter), Limit: or(p.Limit), Cursor: or(p.Cursor)}
	return ask[api.ObjectPage](ctx, c, get(ofVersion+"/objects/{bucket}", b.Project, b.Version, b.Binding).with(params))
}

// AllObjects yields the objects whose keys begin with prefix, every page. It ends
// after an error.
//
// Codes: the data codes, binding_not_found, invalid_key.
func (c *Client) AllObjects(ctx context.Context, b R2, prefix string) iter.Seq2[api.Object, error] {
	return all(func(cursor string) ([]api.Object, *string, error) {
		page, err := c.Objects(ctx, b, prefix, "", Page{Limit: 1000, Cursor: cursor})
		return page.Items, page.NextCursor, err
	})
}

// GetObject returns an object and its body. The caller closes the body; ctx must
// live until then, and is the only time limit.
//
// Codes: the data codes, binding_not_found, object_not_found, invalid_key.
func (c *Client) GetObject(ctx context.Context, b R2, key string) (api.Object, io.ReadCloser, error) {
	if err := checkKey(key); err != nil {
		return api.Object{}, nil, err
	}
	resp, err := c.stream(ctx, get(ofVersion+"/objects/{bucket}/{key}", b.Project, b.Version, b.Binding, key))
	if err != nil {
		return api.Object{}, nil, err
	}
	var o api.Object
	if err := json.Unmarshal([]byte(resp.Header.Get(objectMetadata)), &o); err != nil {
		return api.Object{}, nil, errors.Join(unexpected(err), resp.Body.Close())
	}
	return o, resp.Body, nil
}

// objectMetadata is the header with the metadata of an object, as JSON.
const objectMetadata = "Svc-Object-Metadata"

// NewObject is what is stored with a body. The zero NewObject stores nothing
// beside it.
type NewObject struct {
	HTTP         api.HTTPMetadata
	Custom       map[string]string
	StorageClass string           // "" for Standard
	Progress     func(sent int64) // called with the bytes sent so far; nil for none
}

// PutObject stores an object: the size bytes that body reads. ctx is its only
// time limit. If it fails, nothing is stored.
//
// Codes: the data codes, binding_not_found, invalid_key, invalid_metadata,
// object_too_large, body_too_large, blob_not_stored.
func (c *Client) PutObject(ctx context.Context, b R2, key string, body io.Reader, size int64, o NewObject) error { //nolint:revive // what an object is
	if err := checkKey(key); err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"http_metadata": o.HTTP, "custom_metadata": o.Custom, "storage_class": o.StorageClass})
	if err != nil {
		return fmt.Errorf("encoding metadata: %w", err)
	}
	contentType := o.HTTP.ContentType
	contentType = cmp.Or(contentType, octets)
	metadata := ascii(string(text))
	progress, over := untilOver(o.Progress)
	defer over()
	params := api.PutObjectParams{SvcObjectMetadata: &metadata, Force: c.force.Force}
	sent := put(ofVersion+"/objects/{bucket}/{key}", b.Project, b.Version, b.Binding, key).
		with(params).sending(&counter{next: body, progress: progress}, contentType).edited(sized(size))
	_, err = read(c.do(ctx, sent.untimed()))
	return err
}

// ascii escapes JSON so that a header can carry it.
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

// DeleteObject deletes an object. Deleting an object that does not exist is no
// error.
//
// Codes: the data codes, binding_not_found, invalid_key.
func (c *Client) DeleteObject(ctx context.Context, b R2, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	_, err := read(c.do(ctx, remove(ofVersion+"/objects/{bucket}/{key}", b.Project, b.Version, b.Binding, key).with(c.force)))
	return err
}

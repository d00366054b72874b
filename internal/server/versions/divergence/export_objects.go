package divergence

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/svc"
)

// bodyPart is how many bytes of a body one record has at most.
const bodyPart = 4 << 20

// blob is a part of a body that is in the object store.
type blob struct {
	key  string
	size int64
}

// remember notes a blob of an object, for the record of the object.
func (e *export) remember(f fields) {
	if f == nil {
		return
	}
	if e.blobs == nil {
		e.blobs = map[int64]map[int64]blob{}
	}
	entry := f.integer("entry")
	if e.blobs[entry] == nil {
		e.blobs[entry] = map[int64]blob{}
	}
	e.blobs[entry][f.integer("number")] = blob{key: f.text("blob"), size: f.integer("size")}
}

// object writes an object and its body.
func (e *export) object(ctx context.Context, out svc.ExportRecord, f fields) error {
	metadata, err := objectValues(f)
	if err != nil {
		return fmt.Errorf("metadata of object %q: %w", out.Key, err)
	}
	out.Values = metadata
	if err := e.send(out); err != nil {
		return err
	}
	out = svc.ExportRecord{Kind: svc.ExportBody, Resource: out.Resource, Key: out.Key}
	for part := range slices.Chunk(f.bytes("body"), bodyPart) {
		if err := e.part(&out, part); err != nil {
			return err
		}
	}
	blobs := e.blobs[f.integer("id")]
	for _, number := range slices.Sorted(maps.Keys(blobs)) {
		if err := e.blob(ctx, &out, blobs[number]); err != nil {
			return fmt.Errorf("body of object %q: %w", out.Key, err)
		}
	}
	if size := f.integer("size"); out.Offset != size {
		return fmt.Errorf("body of object %q has %d bytes of %d: %w", out.Key, out.Offset, size, rowdiff.ErrCorrupt)
	}
	return nil
}

// part writes the next bytes of a body.
func (e *export) part(out *svc.ExportRecord, part []byte) error {
	out.Body = part
	err := e.send(*out)
	out.Offset += int64(len(part))
	return err
}

// blob writes a blob. Each part is a request of its own, so that a slow client holds no
// connection to the object store.
func (e *export) blob(ctx context.Context, out *svc.ExportRecord, b blob) error {
	for at := int64(0); at < b.size; at += bodyPart {
		part := make([]byte, min(bodyPart, b.size-at))
		body, _, err := e.c.deps.Bucket.Get(ctx, b.key, at, int64(len(part)))
		if err != nil {
			return err
		}
		_, err = io.ReadFull(body, part)
		_ = body.Close() // it was read
		if err != nil {
			return err
		}
		if err := e.part(out, part); err != nil {
			return err
		}
	}
	return nil
}

// objectValues returns what an object has beside its body, with the names of the API.
func objectValues(f fields) (map[string]any, error) {
	checksums, err := checksumsOf(f)
	if err != nil {
		return nil, err
	}
	http, err := httpOf(f.text("http"))
	if err != nil {
		return nil, err
	}
	var pairs []struct{ K, V string }
	if err := decode(f.text("custom"), &pairs); err != nil {
		return nil, err
	}
	custom := map[string]string{}
	for _, p := range pairs {
		custom[p.K] = p.V
	}
	return map[string]any{
		"size_bytes": f.integer("size"), "etag": f.text("etag"), "uploaded_at": f.time("uploaded"), "storage_class": f.text("class"),
		"checksums": checksums, "http_metadata": http, "custom_metadata": custom,
	}, nil
}

// checksumsOf returns the checksums by name. The etag of an object that was not uploaded in
// parts is its MD5.
func checksumsOf(f fields) (map[string]string, error) {
	sums := map[string]string{}
	if err := decode(f.text("checksums"), &sums); err != nil {
		return nil, err
	}
	named := map[string]string{}
	for i, name := range []string{"md5", "sha1", "sha256", "sha384", "sha512"} {
		if sum := sums[strconv.Itoa(i)]; sum != "" {
			named[name] = sum
		}
	}
	const md5Digits = 32
	if etag := f.text("etag"); len(etag) == md5Digits {
		named["md5"] = etag
	}
	return named, nil
}

// httpOf returns the HTTP headers of an object.
func httpOf(text string) (map[string]any, error) {
	var stored struct {
		ContentType, ContentLanguage, ContentDisposition, ContentEncoding, CacheControl *string

		CacheExpiry *json.Number // milliseconds since 1970, as a number or a text
	}
	if err := decode(text, &stored); err != nil {
		return nil, err
	}
	headers := map[string]any{}
	for name, value := range map[string]*string{
		"content_type": stored.ContentType, "content_language": stored.ContentLanguage, "content_disposition": stored.ContentDisposition,
		"content_encoding": stored.ContentEncoding, "cache_control": stored.CacheControl,
	} {
		if value != nil {
			headers[name] = *value
		}
	}
	if stored.CacheExpiry == nil {
		return headers, nil
	}
	at, err := stored.CacheExpiry.Int64()
	headers["cache_expiry"] = time.UnixMilli(at).UTC()
	return headers, err
}

// decode reads a column of JSON, "" for none.
func decode(text string, to any) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), to)
}

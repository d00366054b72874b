package objects

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// adminMetadata is the header that says in the API what an object has beside its
// body: a shownObject as JSON, in ASCII.
const adminMetadata = "Svc-Object-Metadata"

// shownPage is a page of GET /objects/{bucket}.
type shownPage struct {
	Items    []shownObject `json:"items"`
	Prefixes []string      `json:"prefixes"`
	Next     *string       `json:"next_cursor"`
}

// shownObject is an object without its body.
type shownObject struct {
	Key       string            `json:"key"`
	Size      int64             `json:"size_bytes"`
	ETag      string            `json:"etag"`
	Uploaded  time.Time         `json:"uploaded_at"`
	Class     string            `json:"storage_class"`
	Checksums map[string]string `json:"checksums"`
	HTTP      shownHTTP         `json:"http_metadata"`
	Custom    map[string]string `json:"custom_metadata"`
}

// shownHTTP are the HTTP headers stored with an object.
type shownHTTP struct {
	ContentType        string     `json:"content_type,omitempty"`
	ContentLanguage    string     `json:"content_language,omitempty"`
	ContentDisposition string     `json:"content_disposition,omitempty"`
	ContentEncoding    string     `json:"content_encoding,omitempty"`
	CacheControl       string     `json:"cache_control,omitempty"`
	CacheExpiry        *time.Time `json:"cache_expiry,omitempty"`
}

// shown is o as the API shows it.
func (o *object) shown() (shownObject, error) {
	s := shownObject{
		Key: o.key, Size: o.size, ETag: o.etag, Uploaded: time.UnixMilli(o.uploaded).UTC(), Class: o.class,
		Checksums: map[string]string{}, Custom: map[string]string{},
	}
	sums := o.digests()
	for name, sum := range map[string]string{"md5": sums.MD5, "sha1": sums.SHA1, "sha256": sums.SHA256, "sha384": sums.SHA384, "sha512": sums.SHA512} {
		if sum != "" {
			s.Checksums[name] = sum
		}
	}
	var fields httpFields
	var custom []customField
	if err := errors.Join(decode(o.http, &fields), decode(o.custom, &custom)); err != nil {
		return s, fmt.Errorf("the metadata of %q: %w", o.key, err)
	}
	for _, f := range custom {
		s.Custom[f.K] = f.V
	}
	for _, p := range s.HTTP.pairs(&fields) {
		if *p.field != nil {
			*p.shown = **p.field
		}
	}
	if fields.CacheExpiry != nil {
		at := time.UnixMilli(int64(*fields.CacheExpiry)).UTC()
		s.HTTP.CacheExpiry = &at
	}
	return s, nil
}

// decode reads a column of JSON, "" for none.
func decode(text string, to any) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), to)
}

// pair is one header in its shown and its stored form.
type pair struct {
	shown *string
	field **string
}

func (h *shownHTTP) pairs(f *httpFields) []pair {
	return []pair{
		{&h.ContentType, &f.ContentType},
		{&h.ContentLanguage, &f.ContentLanguage},
		{&h.ContentDisposition, &f.ContentDisposition},
		{&h.ContentEncoding, &f.ContentEncoding},
		{&h.CacheControl, &f.CacheControl},
	}
}

func get(b *bucket, w http.ResponseWriter, r *http.Request) error {
	key := r.PathValue("key")
	q := &request{Object: &key}
	o, body, err := (*object)(nil), io.ReadCloser(http.NoBody), checkKey(key)
	switch {
	case err != nil:
	case r.Method == http.MethodHead:
		o, err = b.head(r.Context(), key)
	default:
		o, body, err = b.get(r.Context(), q)
	}
	if err != nil {
		return err
	}
	defer body.Close()
	shown, err := o.shown()
	if err != nil {
		return err
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return fmt.Errorf("encoding metadata: %w", err)
	}
	h := w.Header()
	h.Set(adminMetadata, binding.ASCII(string(text)))
	h.Set("Content-Type", "application/octet-stream")
	if shown.HTTP.ContentType != "" {
		h.Set("Content-Type", binding.ASCII(shown.HTTP.ContentType))
	}
	h.Set("Content-Length", strconv.FormatInt(o.size, 10))
	w.WriteHeader(http.StatusOK)
	_, _ = io.Copy(w, body) // one that ends early breaks the connection
	return nil
}

func put(b *bucket, w http.ResponseWriter, r *http.Request) error {
	key := r.PathValue("key")
	switch {
	case key == "":
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidKey, "the path names no object")
	case r.ContentLength < 0:
		return svc.Errorf(svc.BadRequest, svc.CodeLengthRequired, "the length of an object must be known beforehand: send Content-Length")
	}
	q := &request{Object: &key}
	if err := q.metadata(r.Header); err != nil {
		return err
	}
	if _, err := b.put(r.Context(), q, r.Body, r.ContentLength, nil); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// metadata reads what headers say about an object.
func (q *request) metadata(h http.Header) error {
	var given struct {
		HTTP   shownHTTP         `json:"http_metadata"`
		Custom map[string]string `json:"custom_metadata"`
		Class  string            `json:"storage_class"`
	}
	if text := h.Get(adminMetadata); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return svc.Errorf(svc.BadRequest, svc.CodeInvalidMetadata, "the header %s is not the JSON of an object's metadata", adminMetadata)
		}
	}
	given.HTTP.ContentType = cmp.Or(given.HTTP.ContentType, h.Get("Content-Type"))
	q.StorageClass, q.HTTPFields = given.Class, new(httpFields)
	for _, p := range given.HTTP.pairs(q.HTTPFields) {
		if *p.shown != "" {
			*p.field = p.shown
		}
	}
	if at := given.HTTP.CacheExpiry; at != nil {
		ms := integer(at.UnixMilli())
		q.HTTPFields.CacheExpiry = &ms
	}
	for _, k := range slices.Sorted(maps.Keys(given.Custom)) {
		q.CustomFields = append(q.CustomFields, customField{k, given.Custom[k]})
	}
	return nil
}

func remove(b *bucket, w http.ResponseWriter, r *http.Request) error {
	key := r.PathValue("key")
	if err := checkKey(key); err != nil {
		return err
	}
	if err := b.remove(r.Context(), []string{key}); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

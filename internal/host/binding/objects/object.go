package objects

import (
	"encoding/json"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// object is one object without its body, unless that is in the row.
type object struct {
	id                      int64
	key, version            string
	size                    int64
	etag                    string
	uploaded                int64 // milliseconds since 1970
	class                   string
	checksums, http, custom string // JSON, "" for none
	body                    []byte // of an inline one that was read with it
	inline                  bool   // the body is in the row, and was read
	span                    *wireSpan
}

// scan reads the columns entryColumns.
func (o *object) scan(s *raw.Stmt) {
	*o = object{
		id: s.Int64(0), key: s.Text(1), version: s.Text(2), size: s.Int64(3), etag: s.Text(4), uploaded: s.Int64(5),
		class: s.Text(6), checksums: s.Text(7), http: s.Text(8), custom: s.Text(9),
	}
}

// wire is o as workerd reads it.
func (o *object) wire() wireObject {
	w := wireObject{
		Name: o.key, Version: o.version, Size: o.size, ETag: o.etag, Uploaded: o.uploaded, Range: o.span, StorageClass: o.class,
		HTTPFields: json.RawMessage("{}"), CustomFields: json.RawMessage("[]"), Checksums: o.digests(),
	}
	if o.http != "" {
		w.HTTPFields = json.RawMessage(o.http)
	}
	if o.custom != "" {
		w.CustomFields = json.RawMessage(o.custom)
	}
	return w
}

// digests are the checksums by the numbers of the protocol. The etag is the MD5
// of an object that was not uploaded in parts.
func (o *object) digests() (sums wireDigests) {
	if o.checksums != "" {
		_ = json.Unmarshal([]byte(o.checksums), &sums) // written by this package
	}
	if len(o.etag) == 2*md5Size {
		sums.MD5 = o.etag
	}
	return sums
}

// find gives the object of that key, nil if it does not exist, with what text
// selects: sqlHead or sqlGet.
func (b *bucket) find(c *raw.Conn, text, key string) (o *object, err error) {
	err = c.Query(text, []any{b.id, key}, func(s *raw.Stmt) error {
		o = new(object)
		o.scan(s)
		if text == sqlGet && !s.IsNull(s.Columns()-1) {
			o.body, o.inline = s.Blob(s.Columns()-1), true
		}
		return nil
	})
	return o, err
}

// piece is one blob of a body.
type piece struct {
	size int64
	blob string
}

// pieces are the blobs of an object's body, in order.
func pieces(c *raw.Conn, entry int64) (all []piece, err error) {
	err = c.Query(sqlBlobs, []any{entry}, func(s *raw.Stmt) error {
		all = append(all, piece{s.Int64(0), s.Text(1)})
		return nil
	})
	return all, err
}

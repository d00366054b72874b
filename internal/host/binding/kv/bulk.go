package kv

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
)

// bulkRequest is what the binding sends for a get of several keys.
type bulkRequest struct {
	Keys         []string `json:"keys"`
	Type         *string  `json:"type"`
	WithMetadata bool     `json:"withMetadata"`
	CacheTTL     *string  `json:"cacheTtl"` // a number in a string
}

const maxBulkRequest = 1 << 20 // bytes: a hundred keys, all of them escaped, are less

func (n *namespace) serveBulk(w http.ResponseWriter, r *http.Request) error {
	text, err := io.ReadAll(io.LimitReader(r.Body, maxBulkRequest))
	if err != nil {
		return err
	}
	var q bulkRequest
	if err := json.Unmarshal(text, &q); err != nil {
		return refuse(http.StatusBadRequest, "Invalid JSON")
	}
	if err := q.check(); err != nil {
		return err
	}
	var out bytes.Buffer
	var large binding.Large
	defer large.Release()
	ctx := r.Context()
	err = n.db.Read(ctx, func(c *raw.Conn) error { return n.bulk(ctx, c, q, &out, &large) })
	if err != nil {
		return err
	}
	binding.Reply(w, "application/json", out.Bytes())
	return nil
}

func (q *bulkRequest) check() error {
	switch {
	case q.Type != nil && *q.Type != "text" && *q.Type != "json":
		return refuse(http.StatusBadRequest, `"%s" is not a valid type. Use "json" or "text"`, *q.Type)
	case len(q.Keys) > maxBulkKeys:
		return refuse(http.StatusBadRequest, "You can request a maximum of %d keys", maxBulkKeys)
	case len(q.Keys) < 1:
		return refuse(http.StatusBadRequest, "You must request a minimum of 1 key")
	}
	for _, key := range q.Keys {
		if err := checkKey(key); err != nil {
			return err
		}
	}
	if q.CacheTTL != nil {
		return checkCacheTTL(*q.CacheTTL)
	}
	return nil
}

// bulk writes the object of all keys to out.
func (n *namespace) bulk(ctx context.Context, c *raw.Conn, q bulkRequest, out *bytes.Buffer, large *binding.Large) error {
	total := 0
	seen := make(map[string]bool, len(q.Keys))
	out.WriteByte('{')
	for _, key := range q.Keys {
		e, err := n.read(ctx, c, key, large)
		if err != nil {
			return err
		}
		if total += len(e.value); total > maxBulkBytes {
			return refuse(http.StatusRequestEntityTooLarge, "Total size of request exceeds the limit of %dMB", maxBulkBytes>>20)
		}
		if total > binding.LargeSize {
			if err := large.Acquire(ctx); err != nil {
				return err
			}
		}
		if seen[key] {
			continue
		}
		if len(seen) > 0 {
			out.WriteByte(',')
		}
		seen[key] = true
		out.Write(quote(key))
		out.WriteByte(':')
		if err := q.write(e, out); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// write writes what q asks of one entry.
func (q *bulkRequest) write(e entry, out *bytes.Buffer) error {
	if !e.found {
		out.WriteString("null")
		return nil
	}
	value := bytes.TrimPrefix(e.value, []byte("\ufeff")) // as a text decoder does
	if q.Type != nil && *q.Type == "json" {
		if !utf8.Valid(value) || !json.Valid(value) {
			return refuse(http.StatusBadRequest, "At least one of the requested keys corresponds to a non-json value")
		}
	} else {
		value = quote(decodeText(value))
	}
	if !q.WithMetadata {
		out.Write(value)
		return nil
	}
	metadata := e.metadata
	metadata = cmp.Or(metadata, "null")
	out.WriteString(`{"value":`)
	out.Write(value)
	out.WriteString(`,"metadata":`)
	out.WriteString(metadata)
	out.WriteByte('}')
	return nil
}

// quote writes s as a JSON string.
func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil { // a string always encodes
		return []byte(`""`)
	}
	return b
}

// decodeText reads b as UTF-8 with U+FFFD for what is not, one for each longest
// part that could have begun a character, as JavaScript's decoder does.
func decodeText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			size = brokenPrefix(b)
		}
		out.WriteRune(r)
		b = b[size:]
	}
	return out.String()
}

// brokenPrefix is the length of the invalid start of b that counts as one
// error: the bytes that are a proper prefix of some character, or one byte.
func brokenPrefix(b []byte) int {
	n := 1
	for n < len(b) && n < utf8.UTFMax && !utf8.FullRune(b[:n]) {
		n++
	}
	if n < len(b) || utf8.FullRune(b) {
		return max(n-1, 1)
	}
	return n
}

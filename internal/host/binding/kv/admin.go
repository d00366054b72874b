package kv

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// The headers of a value in the API [D35].
const (
	adminMetadata   = "Svc-Kv-Metadata"   // JSON, in ASCII
	adminExpiration = "Svc-Kv-Expiration" // seconds since 1970
)

const defaultListed = 100

var (
	_ binding.Admin    = Kind{}
	_ binding.Measured = (*namespace)(nil)
	_ binding.Stored   = (*namespace)(nil)
)

// Admin gives the operations on namespaces [D35].
func (Kind) Admin(open []binding.Opened) map[string]binding.Operation {
	one := func(do func(*namespace, http.ResponseWriter, *http.Request) error) binding.Operation {
		return binding.Timed(binding.One(open, "namespace", "key-value namespace", func(n *namespace, w http.ResponseWriter, r *http.Request) error {
			return adminError(do(n, w, r))
		}))
	}
	return map[string]binding.Operation{
		"GET /kv":                                binding.Overview(open),
		"GET /kv/{namespace}":                    one(describe),
		"GET /kv/{namespace}/keys":               one(keys),
		"GET /kv/{namespace}/values/{key...}":    one(get),
		"PUT /kv/{namespace}/values/{key...}":    one(put),
		"DELETE /kv/{namespace}/values/{key...}": one(remove),
	}
}

func describe(n *namespace, w http.ResponseWriter, r *http.Request) error {
	keys, size, err := n.measure(r.Context())
	if err != nil {
		return err
	}
	return binding.WriteJSON(w, map[string]any{"binding": r.PathValue("namespace"), "keys": keys, "size_bytes": size})
}

// History is that of the database.
func (n *namespace) History() volume.History { return n.db.History() }

// Stats tells the number of keys and the bytes of their values.
func (n *namespace) Stats(ctx context.Context) (map[string]int64, error) {
	keys, size, err := n.measure(ctx)
	return map[string]int64{"keys": keys, "size_bytes": size}, err
}

func (n *namespace) measure(ctx context.Context) (keys, size int64, err error) {
	err = n.db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(sqlMeasure, []any{n.id, time.Now().Unix()}, func(s *raw.Stmt) error {
			keys, size = s.Int64(0), s.Int64(1)
			return nil
		})
	})
	return keys, size, err
}

// listedKey is one key of a page.
type listedKey struct {
	Name       string          `json:"name"`
	Expiration int64           `json:"expiration,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
}

func keys(n *namespace, w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	limit, err := binding.ListLimit(r, defaultListed, maxListed)
	if err != nil {
		return err
	}
	prefix, after := query.Get("prefix"), ""
	if err := checkLength(prefix); err != nil {
		return err
	}
	scope := binding.Scope("kv", r.PathValue("namespace"), prefix)
	if err := binding.ReadCursor(scope, query.Get("cursor"), &after); err != nil {
		return err
	}
	found, err := n.list(r.Context(), prefix, after, limit+1)
	if err != nil {
		return err
	}
	found, next, err := binding.Page(found, limit, scope, func(i int) any { return found[i].Name })
	if err != nil {
		return err
	}
	items := make([]listedKey, len(found))
	for i, k := range found {
		items[i] = listedKey{Name: k.Name, Expiration: k.Expiration}
		if json.Valid([]byte(k.Metadata)) {
			items[i].Metadata = json.RawMessage(k.Metadata)
		}
	}
	return binding.WritePage(w, items, next)
}

func get(n *namespace, w http.ResponseWriter, r *http.Request) error {
	key := r.PathValue("key")
	if err := checkKey(key); err != nil {
		return err
	}
	var large binding.Large
	defer large.Release()
	e, err := n.get(r.Context(), key, &large)
	if err != nil {
		return err
	}
	if !e.found {
		return svc.Errorf(svc.NotFound, svc.CodeKeyNotFound, "there is no such key")
	}
	if e.metadata != "" {
		w.Header().Set(adminMetadata, binding.ASCII(e.metadata))
	}
	if e.expires != 0 {
		w.Header().Set(adminExpiration, strconv.FormatInt(e.expires, 10))
	}
	binding.Reply(w, "application/octet-stream", e.value)
	return nil
}

func put(n *namespace, w http.ResponseWriter, r *http.Request) error {
	var large binding.Large
	defer large.Release()
	value, size, err := readValue(r, &large)
	if err != nil {
		return svc.Errorf(svc.BadRequest, svc.CodeBodyIncomplete, "the body ended early").Because(err)
	}
	e := entry{value: value}
	if text := r.Header.Get(adminMetadata); text != "" {
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(text)); err != nil || !utf8.ValidString(text) {
			return svc.Errorf(svc.BadRequest, svc.CodeInvalidMetadata, "the header %s is not JSON", adminMetadata)
		}
		e.metadata = compact.String()
	}
	key := r.PathValue("key")
	if e.expires, err = checkPut(key, size, e.metadata, r.URL.Query()); err != nil {
		return err
	}
	if err := n.put(r.Context(), key, e); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func remove(n *namespace, w http.ResponseWriter, r *http.Request) error {
	key := r.PathValue("key")
	if err := checkKey(key); err != nil {
		return err
	}
	if err := n.remove(r.Context(), key); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// adminError gives the refusals that a worker sees their codes in the API.
func adminError(err error) error {
	r, ok := err.(*refusal) //nolint:errorlint // made here and never wrapped
	switch {
	case !ok:
		return err
	case r.status == http.StatusRequestEntityTooLarge:
		return svc.Errorf(svc.TooLarge, svc.CodeValueTooLarge, "%s", r.text)
	case r.status == http.StatusRequestURITooLong:
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidKey, "%s", r.text)
	}
	return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "%s", r.text)
}

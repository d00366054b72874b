package kv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

const (
	defaultListed = 100
	adminTime     = 30 * time.Second
)

var (
	_ binding.Admin    = Kind{}
	_ binding.Measured = (*namespace)(nil)
	_ binding.Stored   = (*namespace)(nil)
)

// Admin gives the operations on namespaces [D35].
func (Kind) Admin(open []binding.Opened) map[string]binding.Operation {
	a := admin{open}
	return map[string]binding.Operation{
		"GET /kv":                                a.namespaces,
		"GET /kv/{namespace}":                    a.one(a.describe),
		"GET /kv/{namespace}/keys":               a.one(a.keys),
		"GET /kv/{namespace}/values/{key...}":    a.one(a.get),
		"PUT /kv/{namespace}/values/{key...}":    a.one(a.put),
		"DELETE /kv/{namespace}/values/{key...}": a.one(a.remove),
	}
}

type admin struct{ open []binding.Opened }

// one finds the namespace that a path names by its binding.
func (a admin) one(do func(*namespace, http.ResponseWriter, *http.Request) error) binding.Operation {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), adminTime)
		defer cancel()
		o, err := binding.Pick(a.open, r.PathValue("namespace"), "key-value namespace")
		if err != nil {
			return err
		}
		n, err := namespaceOf(o)
		if err != nil {
			return err
		}
		return adminError(do(n, w, r.WithContext(ctx)))
	}
}

func namespaceOf(o binding.Opened) (*namespace, error) {
	n, ok := o.Instance.(*namespace)
	if !ok {
		return nil, fmt.Errorf("binding %q is no key-value namespace but %T", o.Name, o.Instance)
	}
	return n, nil
}

// listedNamespace is one row of GET /kv.
type listedNamespace struct {
	Binding string `json:"binding"`
	Keys    int64  `json:"keys"`
	Size    int64  `json:"size_bytes"`
}

func (a admin) namespaces(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), adminTime)
	defer cancel()
	items := make([]listedNamespace, 0, len(a.open))
	for _, o := range a.open {
		n, err := namespaceOf(o)
		if err != nil {
			return err
		}
		keys, size, err := n.measure(ctx)
		if err != nil {
			return err
		}
		items = append(items, listedNamespace{o.Name, keys, size})
	}
	return binding.WriteJSON(w, map[string]any{"items": items})
}

func (a admin) describe(n *namespace, w http.ResponseWriter, r *http.Request) error {
	keys, size, err := n.measure(r.Context())
	if err != nil {
		return err
	}
	return binding.WriteJSON(w, listedNamespace{r.PathValue("namespace"), keys, size})
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

func (a admin) keys(n *namespace, w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	limit := defaultListed
	if text := query.Get("limit"); text != "" {
		l, err := strconv.Atoi(text)
		if err != nil || l < 1 {
			return svc.Errorf(svc.BadRequest, svc.CodeInvalidLimit, "limit must be a number from 1 to %d", maxListed)
		}
		limit = min(l, maxListed)
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
	var next *string
	if len(found) > limit {
		found = found[:limit]
		cursor, err := binding.Cursor(scope, found[limit-1].Name)
		if err != nil {
			return err
		}
		next = &cursor
	}
	items := make([]listedKey, len(found))
	for i, k := range found {
		items[i] = listedKey{Name: k.Name, Expiration: k.Expiration}
		if json.Valid([]byte(k.Metadata)) {
			items[i].Metadata = json.RawMessage(k.Metadata)
		}
	}
	return binding.WriteJSON(w, map[string]any{"items": items, "next_cursor": next})
}

func (a admin) get(n *namespace, w http.ResponseWriter, r *http.Request) error {
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

func (a admin) put(n *namespace, w http.ResponseWriter, r *http.Request) error {
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

func (a admin) remove(n *namespace, w http.ResponseWriter, r *http.Request) error {
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

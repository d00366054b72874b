package kv

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/host/binding"
)

const metadataHeader = "Cf-Kv-Metadata" // JSON, raw UTF-8

// ServeHTTP answers workerd's key-value binding. The path is one key in
// percent-encoding, taken as it came: "a/../b" is a key.
func (n *namespace) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, query, _ := strings.Cut(r.RequestURI, "?")
	params, err := url.ParseQuery(query)
	if err == nil {
		err = n.serve(w, r, strings.TrimPrefix(path, "/"), params)
	} else {
		err = refuse(http.StatusBadRequest, "Invalid query")
	}
	if err != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		binding.Fail(w, statusOf(err), err.Error())
	}
}

func (n *namespace) serve(w http.ResponseWriter, r *http.Request, path string, params url.Values) error {
	key, err := url.PathUnescape(path)
	if err != nil || !utf8.ValidString(key) {
		return refuse(http.StatusBadRequest, "Invalid key encoding")
	}
	switch {
	case r.Method == http.MethodGet && path == "":
		return n.serveList(w, r, params)
	case r.Method == http.MethodGet:
		return n.serveGet(w, r, key, params)
	case r.Method == http.MethodPut:
		return n.servePut(w, r, key, params)
	case r.Method == http.MethodDelete:
		return n.serveDelete(w, r, key)
	case r.Method == http.MethodPost && path == "bulk/get":
		return n.serveBulk(w, r)
	}
	return refuse(http.StatusMethodNotAllowed, "Method Not Allowed")
}

func (n *namespace) serveGet(w http.ResponseWriter, r *http.Request, key string, params url.Values) error {
	if params.Has("cache_ttl") {
		if err := checkCacheTTL(params.Get("cache_ttl")); err != nil {
			return err
		}
	}
	var large binding.Large
	defer large.Release()
	e, err := n.get(r.Context(), key, &large)
	if err != nil {
		return err
	}
	h := w.Header()
	h["Cf-Cache-Status"] = miss
	if !e.found {
		w.WriteHeader(http.StatusNotFound)
		return nil
	}
	if e.metadata != "" {
		h[metadataHeader] = []string{e.metadata}
	}
	binding.Reply(w, "application/octet-stream", e.value)
	return nil
}

var miss = []string{"MISS"} //nolint:gochecknoglobals // constant: there is no cache in between

func (n *namespace) servePut(w http.ResponseWriter, r *http.Request, key string, params url.Values) error {
	var large binding.Large
	defer large.Release()
	value, size, err := readValue(r, &large)
	if err != nil {
		return err
	}
	e := entry{metadata: r.Header.Get(metadataHeader), value: value}
	if e.expires, err = checkPut(key, size, e.metadata, params); err != nil {
		return err
	}
	if err := n.put(r.Context(), key, e); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// readValue reads the body to its end. It keeps at most maxValue bytes and
// counts all.
func readValue(r *http.Request, large *binding.Large) (value []byte, size int64, err error) {
	if value, err = large.ReadBody(r, maxValue); err != nil {
		return nil, 0, err
	}
	rest, err := io.Copy(io.Discard, r.Body)
	return value, int64(len(value)) + rest, err
}

func (n *namespace) serveDelete(w http.ResponseWriter, r *http.Request, key string) error {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return err
	}
	if err := n.remove(r.Context(), key); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

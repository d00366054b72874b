package kv

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/host/binding"
)

// page is one page of keys, as workerd reads it.
type page struct {
	Keys     []listed `json:"keys"`
	Complete bool     `json:"list_complete"`
	Cursor   string   `json:"cursor,omitempty"`
}

func (n *namespace) serveList(w http.ResponseWriter, r *http.Request, params url.Values) error {
	limit, err := listLimit(params)
	if err != nil {
		return err
	}
	after, err := parseCursor(params.Get("cursor"))
	if err != nil {
		return err
	}
	prefix := params.Get("prefix")
	if err := checkLength(prefix); err != nil {
		return err
	}
	keys, err := n.list(r.Context(), prefix, after, limit+1)
	if err != nil {
		return err
	}
	p := page{Keys: keys, Complete: len(keys) <= limit}
	if !p.Complete {
		p.Keys = keys[:limit]
		p.Cursor = base64.StdEncoding.EncodeToString([]byte(keys[limit-1].Name))
	}
	if p.Keys == nil {
		p.Keys = []listed{}
	}
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	binding.Reply(w, "application/json", body)
	return nil
}

func listLimit(params url.Values) (int, error) {
	if !params.Has("key_count_limit") {
		return maxListed, nil
	}
	limit, ok := parseInt(params.Get("key_count_limit"))
	switch {
	case !ok:
		return 0, refuse(http.StatusBadRequest, "Invalid key_count_limit of NaN. Please specify an integer greater than 0.")
	case limit < 1:
		return 0, refuse(http.StatusBadRequest, "Invalid key_count_limit of %d. Please specify an integer greater than 0.", limit)
	case limit > maxListed:
		return 0, refuse(http.StatusBadRequest, "Invalid key_count_limit of %d. Please specify an integer less than %d.", limit, maxListed)
	}
	return int(limit), nil
}

// parseCursor gives the key after which a page begins. A cursor is that key.
func parseCursor(cursor string) (string, error) {
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(cursor, "="))
	if err != nil || !utf8.Valid(key) {
		return "", refuse(http.StatusBadRequest, "Invalid cursor.")
	}
	return string(key), nil
}

package cache

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"strings"
)

// key names what is cached: the hash of a cache's name and a URL, or the key that the
// worker chose in its place.
type key [sha256.Size]byte

func keyOf(r *http.Request) key {
	var b strings.Builder
	if names, named := r.Header[namespaceHeader]; named {
		b.WriteString("named " + names[0])
	}
	if chosen := chosenKey(r.Header.Get(cfHeader)); chosen != "" {
		b.WriteString("\nkey " + chosen)
	} else {
		b.WriteString("\nurl " + r.Header.Get(protoHeader) + "://" + r.Host + r.RequestURI)
	}
	return sha256.Sum256([]byte(b.String()))
}

// chosenKey is cf.cacheKey of a request; "" for none.
func chosenKey(cf string) string {
	if !strings.Contains(cf, `"cacheKey"`) {
		return "" // cf of a visitor's request, which many workers pass on, is long
	}
	var options struct {
		CacheKey any `json:"cacheKey"`
	}
	if err := json.Unmarshal([]byte(cf), &options); err != nil {
		return ""
	}
	text, isText := options.CacheKey.(string)
	if !isText {
		return ""
	}
	return text
}

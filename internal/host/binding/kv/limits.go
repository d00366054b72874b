package kv

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The limits of key-value namespaces, which are Cloudflare's.
const (
	maxValue         = 25 << 20 // bytes
	maxMetadata      = 1024     // bytes of JSON
	maxKey           = 512      // bytes of UTF-8
	maxBulkBytes     = 25 << 20
	maxBulkKeys      = 100
	maxListed        = 1000
	minExpirationTTL = 60 // seconds
	minCacheTTL      = 30 // seconds
)

// refusal is an error a worker sees: its text is the reason phrase of the
// answer, which workerd puts into the exception.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

func statusOf(err error) int {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.status
	}
	return http.StatusInternalServerError
}

// checkKey is what the binding itself checks on a single key.
func checkKey(key string) error {
	switch key {
	case "":
		return refuse(http.StatusBadRequest, "Key names must not be empty")
	case ".", "..":
		return refuse(http.StatusBadRequest, "Illegal key name %q. Please use a different name.", key)
	}
	return checkLength(key)
}

func checkLength(key string) error {
	if len(key) > maxKey {
		return refuse(http.StatusRequestURITooLong, "UTF-8 encoded length of %d exceeds key length limit of %d.", len(key), maxKey)
	}
	return nil
}

// checkPut checks everything about a put and gives the time it expires, in
// seconds since 1970, 0 for never.
func checkPut(key string, size int64, metadata string, params url.Values) (expires int64, err error) {
	if err := checkKey(key); err != nil {
		return 0, err
	}
	if size > maxValue {
		return 0, refuse(http.StatusRequestEntityTooLarge, "Value length of %d exceeds limit of %d.", size, maxValue)
	}
	if expires, err = expiration(params); err != nil {
		return 0, err
	}
	if metadata != "" && !json.Valid([]byte(metadata)) {
		return 0, refuse(http.StatusBadRequest, "Metadata must be valid JSON.")
	}
	if len(metadata) > maxMetadata {
		return 0, refuse(http.StatusRequestEntityTooLarge, "Metadata length of %d exceeds limit of %d.", len(metadata), maxMetadata)
	}
	return expires, nil
}

func expiration(params url.Values) (int64, error) {
	now := time.Now().Unix()
	if params.Has("expiration_ttl") {
		ttl, err := checkTTL(params.Get("expiration_ttl"))
		return now + ttl, err
	}
	if !params.Has("expiration") {
		return 0, nil
	}
	text := params.Get("expiration")
	at, ok := parseInt(text)
	switch {
	case !ok || at <= now:
		return 0, refuse(http.StatusBadRequest, "Invalid expiration of %s. Please specify integer greater than the current number of seconds since the UNIX epoch.", text)
	case at < now+minExpirationTTL:
		return 0, refuse(http.StatusBadRequest, "Invalid expiration of %s. Expiration times must be at least %d seconds in the future.", text, minExpirationTTL)
	}
	return at, nil
}

func checkTTL(text string) (int64, error) {
	ttl, ok := parseInt(text)
	switch {
	case !ok || ttl <= 0:
		return 0, refuse(http.StatusBadRequest, "Invalid expiration_ttl of %s. Please specify integer greater than 0.", text)
	case ttl < minExpirationTTL:
		return 0, refuse(http.StatusBadRequest, "Invalid expiration_ttl of %s. Expiration TTL must be at least %d.", text, minExpirationTTL)
	}
	return min(ttl, math.MaxInt64/4), nil
}

func checkCacheTTL(text string) error {
	ttl, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || ttl != math.Trunc(ttl) || math.IsInf(ttl, 0) || ttl < minCacheTTL {
		return refuse(http.StatusBadRequest, "Invalid cache_ttl of %s. Cache TTL must be at least %d.", text, minCacheTTL)
	}
	return nil
}

// parseInt reads the integer text begins with, as JavaScript's parseInt does.
func parseInt(text string) (n int64, ok bool) {
	text = strings.TrimSpace(text)
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && (text[0] == '-' || text[0] == '+')) {
		end++
	}
	n, err := strconv.ParseInt(text[:end], 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return n, true // the nearest one there is
	}
	return n, err == nil
}

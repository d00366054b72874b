package cache

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// understood are the statuses that are stored; byDefault are those for which
// Last-Modified alone gives a lifetime.
//
//nolint:gochecknoglobals // constant tables
var (
	understood = []int{200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501}
	byDefault  = []int{200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501}
)

// lifetime is for how long a shared cache may answer with a response (RFC 9111), 0 for
// one that is not stored. It removes from response what must not be stored. A response
// with a cookie is for one visitor and never stored, unless its Cache-Control says
// private=set-cookie. The Cache-Control of the request is ignored, as on Cloudflare.
func lifetime(request, response http.Header, status int, now time.Time) time.Duration {
	c := parseControl(response["Cache-Control"])
	c.withoutCookie(response)
	if len(c) == 0 && strings.Contains(strings.ToLower(response.Get("Pragma")), "no-cache") {
		return 0
	}
	if c.has("no-store") || c.has("no-cache") || c.has("private") || len(response["Set-Cookie"]) > 0 {
		return 0
	}
	if len(request["Authorization"]) > 0 && !c.has("public") && !c.has("must-revalidate") && !c.has("s-maxage") {
		return 0
	}
	if !slices.Contains(understood, status) {
		return 0
	}
	return max(0, freshness(c, response, status, now)-age(response))
}

// freshness is the lifetime from the time that the response was made.
func freshness(c control, h http.Header, status int, now time.Time) time.Duration {
	if d, ok := c.seconds("s-maxage"); ok {
		return d
	}
	if d, ok := c.seconds("max-age"); ok {
		return d
	}
	made, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		made = now
	}
	if len(h["Expires"]) > 0 {
		at, err := http.ParseTime(h.Get("Expires"))
		if err != nil {
			return 0 // "0" and the like: expired
		}
		return at.Sub(made)
	}
	modified, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil || !slices.Contains(byDefault, status) {
		return 0
	}
	return made.Sub(modified) / 10 // the heuristic of RFC 9111
}

// age is how old the response was when it arrived.
func age(h http.Header) time.Duration {
	n, err := strconv.ParseUint(h.Get("Age"), 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(min(n, maxSeconds)) * time.Second
}

// unstored are the headers of a connection, and those that a match writes itself.
//
//nolint:gochecknoglobals // a constant table
var unstored = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Content-Length", statusHeader,
}

func removeUnstored(h http.Header) {
	for _, named := range h["Connection"] {
		for name := range strings.SplitSeq(named, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range unstored {
		delete(h, name)
	}
}

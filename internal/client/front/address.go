package front

import (
	"net/http"
	"net/url"
	"strings"
)

// outward adapts a request to a version with a host name of its own: a worker compares
// Origin with its host.
func outward(out *http.Request, in *http.Request, t *Target) {
	if t.Host == "" {
		return
	}
	for _, name := range []string{"Origin", "Referer"} {
		u, err := url.Parse(in.Header.Get(name))
		if err == nil && strings.EqualFold(u.Host, in.Host) {
			u.Scheme, u.Host = t.URL.Scheme, t.Host
			out.Header.Set(name, u.String())
		}
	}
}

// inward adapts an answer of such a version: redirects lead to the stable address, and
// cookies belong to it.
func inward(resp *http.Response, t *Target, address string) {
	if t == nil || t.Host == "" {
		return
	}
	if u, err := url.Parse(resp.Header.Get("Location")); err == nil && strings.EqualFold(u.Host, t.Host) {
		u.Scheme, u.Host = "http", address
		resp.Header.Set("Location", u.String())
	}
	cookies := resp.Header["Set-Cookie"]
	for i, c := range cookies {
		cookies[i] = withoutDomain(c)
	}
}

// withoutDomain removes the domain of a cookie.
func withoutDomain(cookie string) string {
	var kept []string
	for part := range strings.SplitSeq(cookie, ";") {
		name, _, _ := strings.Cut(strings.TrimSpace(part), "=")
		if !strings.EqualFold(name, "Domain") {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, ";")
}

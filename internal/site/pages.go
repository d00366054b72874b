package site

import "net/http"

// The headers that each file of a Pages project has, unless _headers changes or removes them.
const (
	pagesOrigin   = "*"
	pagesReferrer = "strict-origin-when-cross-origin"
	pagesSniffing = "nosniff" // of answers with a media type
)

// movedStatus is the status of a redirect to the place where a file is served.
func (s *Site) movedStatus() int {
	if s.pages {
		return http.StatusPermanentRedirect
	}
	return http.StatusTemporaryRedirect
}

// asPages adds the default headers of a Pages project.
func (s *Site) asPages(h http.Header) {
	if !s.pages {
		return
	}
	h.Set("Access-Control-Allow-Origin", pagesOrigin)
	h.Set("Referrer-Policy", pagesReferrer)
	if h.Get("Content-Type") != "" {
		h.Set("X-Content-Type-Options", pagesSniffing)
	}
}

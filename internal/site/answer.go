package site

import (
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
)

// Request is a request as far as it decides about the answer.
type Request struct {
	Method string
	Host   string // may have a port
	Target string // path and query as they were sent, or an absolute URL
	// Encoding is the content coding of the answer that the client prefers: "gzip", "br",
	// "zstd", or "" for none.
	Encoding string
	// Prompt asks for an answer without work that takes long: that of a compressed form
	// which is not made yet is Late.
	Prompt bool
	// Field returns the value of a header by its lower-case name, "" without one.
	Field func(name string) string
}

func (r *Request) hostname() string {
	if host, _, err := net.SplitHostPort(r.Host); err == nil {
		return strings.ToLower(host)
	}
	return strings.ToLower(r.Host)
}

// split returns the path, as an URL has it, and the query with its question mark.
func (r *Request) split() (path, query string) {
	target := r.Target
	if !strings.HasPrefix(target, "/") {
		if _, rest, ok := strings.Cut(target, "://"); ok {
			target = rest[len(rest)-len(strings.TrimLeft(rest, "/")):]
			i := strings.IndexAny(target, "/?")
			target = target[max(0, min(i, len(target))):]
			if i < 0 {
				target = "/"
			}
		}
	}
	if i := strings.IndexByte(target, '?'); i >= 0 {
		return normalize(target[:i]), target[i:]
	}
	return normalize(target), ""
}

// Answer is a response. Its body is a part of a file, or empty.
type Answer struct {
	Status int
	Header http.Header // has Content-Length
	File   string      // of the body; "" for none
	Offset int64       // of the body in the file, in bytes
	Length int64       // of the body, in bytes
	ID     string      // names the bytes of the file: equal ones have the same
	Size   int64       // of the file, in bytes
	Late   bool        // there is an answer, but not to a Prompt request
}

// Route answers a visitor's request; ok is false for one that is the worker's.
func (s *Site) Route(r *Request) (a Answer, ok bool) {
	path, query := r.split()
	if s.hasWorker {
		listed := s.first.listed
		excluded := listed && matchesAny(s.first.exclude, path)
		if !excluded && (s.first.all || listed && matchesAny(s.first.include, path)) {
			return Answer{}, false
		}
		if !excluded {
			notFound := bundle.NotFoundNone
			if listed || s.navigation && r.Field("sec-fetch-mode") == "navigate" {
				notFound = s.notFound
			}
			return s.answer(r, path, query, notFound)
		}
	}
	return s.found(r, path, query), true
}

// Fetch answers a request of the worker through its binding.
func (s *Site) Fetch(r *Request) Answer {
	path, query := r.split()
	return s.found(r, path, query)
}

// found answers also what there is no file for.
func (s *Site) found(r *Request, path, query string) Answer {
	a, ok := s.answer(r, path, query, s.notFound)
	if !ok {
		return s.empty(r, path, http.StatusNotFound, "")
	}
	return a
}

// answer answers a request; ok is false when no rule and no file is for its path. A path
// that a rule rewrites is the files' in any case.
func (s *Site) answer(r *Request, path, query, notFound string) (a Answer, ok bool) {
	asked, rewritten := path, false
	if to, status, found := s.redirects.find(path); found {
		if status != http.StatusOK {
			return s.empty(r, asked, status, location(to, query)), true
		}
		path, rewritten = normalize(strings.SplitN(to, "?", 2)[0]), true
		notFound = s.notFound
	}
	decoded := decode(path)
	t := s.resolve(decoded, notFound)
	switch {
	case !t.found() && rewritten:
		return s.empty(r, asked, http.StatusNotFound, ""), true
	case !t.found():
		return Answer{}, false
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return s.empty(r, asked, http.StatusMethodNotAllowed, ""), true
	case t.redirect != "":
		return s.empty(r, asked, s.movedStatus(), encode(t.redirect)+query), true
	}
	if canonical := encode(decoded); canonical != path && !s.pages {
		return s.empty(r, asked, http.StatusTemporaryRedirect, canonical+query), true
	}
	return s.send(r, asked, t), true
}

// location is the target of a redirect, as an URL has it. It keeps the query of the request
// unless it has one.
func location(to, query string) string {
	to, fragment, hasFragment := strings.Cut(to, "#")
	path, own, hasQuery := strings.Cut(to, "?")
	origin := originPart.FindString(path)
	to = origin + normalize(path[len(origin):])
	if hasQuery {
		query = "?" + own
	}
	to += query
	if hasFragment {
		to += "#" + fragment
	}
	return encodeBytes(to, func(c byte) bool { return c > ' ' && c < 0x7f })
}

// empty is an answer without a body.
func (s *Site) empty(r *Request, path string, status int, to string) Answer {
	h := http.Header{}
	if to != "" {
		h.Set("Location", to)
	}
	if status == http.StatusMethodNotAllowed {
		h.Set("Allow", "GET, HEAD")
	}
	s.customize(h, r, path)
	h["Content-Length"] = []string{"0"}
	return Answer{Status: status, Header: h}
}

// send is the answer with a file.
func (s *Site) send(r *Request, path string, t target) Answer {
	a := Answer{
		Status: t.status, Header: make(http.Header, 8),
		File: s.path(t.name, t.file), ID: t.file.hash, Size: t.file.size, Length: t.file.size,
	}
	kind, small := contentType(t.name)
	if kind != "" {
		a.Header["Content-Type"] = []string{kind}
	}
	ranged := r.Field("range")
	if ranged == "" && r.Field("authorization") == "" {
		a.Header["Cache-Control"] = []string{"public, max-age=0, must-revalidate"}
	}
	tag := `"` + t.file.hash + `"`
	a.Header["Etag"] = []string{tag}
	s.customize(a.Header, r, path)
	if small && t.file.size >= minVariant && a.transformable() {
		addVary(a.Header)
		if ranged == "" && !s.compress(&a, t.file, r) {
			return Answer{Late: true}
		}
	}
	a.conditions(r, t.file, tag, ranged)
	if r.Method == http.MethodHead || a.Length == 0 {
		a.File = ""
	}
	return a
}

// transformable reports whether _headers leaves the encoding to the server.
func (a *Answer) transformable() bool {
	return a.Header["Content-Encoding"] == nil && !strings.Contains(a.Header.Get("Cache-Control"), "no-transform")
}

func addVary(h http.Header) {
	if old := h.Get("Vary"); old == "" {
		h["Vary"] = []string{"Accept-Encoding"}
	} else if !strings.Contains(strings.ToLower(old), "accept-encoding") && old != "*" {
		h.Set("Vary", old+", Accept-Encoding")
	}
}

// compress makes the answer that of the compressed form, if there is one. It reports false
// if that would take too long for the request.
func (s *Site) compress(a *Answer, f file, r *Request) bool {
	v := s.variant(f, r.Encoding)
	switch {
	case v == nil:
		return true
	case r.Prompt && !v.known.Load():
		return false
	}
	if s.variants.prepare(v, a.File, r.Encoding, f.size); v.ok {
		a.encode(v, r.Encoding)
	}
	return true
}

// encode makes the answer that of a compressed form, whose entity tag is weak: the bytes
// are not those of the file.
func (a *Answer) encode(v *variant, encoding string) {
	a.File, a.ID, a.Size, a.Length = v.path, v.name, v.size, v.size
	a.Header["Content-Encoding"] = []string{encoding}
	if tag := a.Header.Get("Etag"); strings.HasPrefix(tag, `"`) {
		a.Header["Etag"] = []string{"W/" + tag}
	}
}

// conditions applies If-None-Match and Range, and sets the length.
func (a *Answer) conditions(r *Request, f file, tag, ranged string) {
	if none := r.Field("if-none-match"); none != "" && a.Status == http.StatusOK && tagged(none, tag) {
		a.Status, a.File, a.Length = http.StatusNotModified, "", 0
		delete(a.Header, "Content-Encoding")
		delete(a.Header, "Content-Length")
		return
	}
	if a.Status == http.StatusOK && a.Header["Content-Encoding"] == nil {
		a.Header["Accept-Ranges"] = []string{"bytes"}
		if match := r.Field("if-range"); ranged != "" && r.Method == http.MethodGet && (match == "" || match == tag) {
			a.cut(ranged, f.size)
		}
	}
	a.Header["Content-Length"] = []string{strconv.FormatInt(a.Length, 10)}
}

// tagged reports whether a list of entity tags has tag, strong or weak.
func tagged(list, tag string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item == "*" || strings.TrimPrefix(item, "W/") == tag {
			return true
		}
	}
	return false
}

// cut makes the answer the range of a Range header. Several ranges, and units other than
// bytes, are ignored, as RFC 9110 allows.
func (a *Answer) cut(ranged string, size int64) {
	spec, ok := strings.CutPrefix(ranged, "bytes=")
	first, last, dash := strings.Cut(strings.TrimSpace(spec), "-")
	if !ok || !dash || strings.Contains(spec, ",") {
		return
	}
	from, errFrom := strconv.ParseInt(first, 10, 64)
	to, errTo := strconv.ParseInt(last, 10, 64)
	switch {
	case first == "" && errTo == nil && to >= 0: // the last bytes
		from, to = max(0, size-to), size-1
	case errFrom != nil || from < 0 || last != "" && (errTo != nil || to < from):
		return
	case last == "" || to >= size:
		to = size - 1
	}
	if from > to {
		a.Status, a.File, a.Length = http.StatusRequestedRangeNotSatisfiable, "", 0
		a.Header["Content-Range"] = []string{"bytes */" + strconv.FormatInt(size, 10)}
		return
	}
	a.Status, a.Offset, a.Length = http.StatusPartialContent, from, to-from+1
	a.Header["Content-Range"] = []string{"bytes " + strconv.FormatInt(from, 10) + "-" + strconv.FormatInt(to, 10) + "/" + strconv.FormatInt(size, 10)}
}

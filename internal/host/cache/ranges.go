package cache

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// span is a part of a body.
type span struct{ start, length int64 }

// contentRange is the span of a body of size bytes as a header.
func (s span) contentRange(size int64) string {
	return fmt.Sprintf("bytes %d-%d/%d", s.start, s.start+s.length-1, size)
}

// spans are the parts that a request asks for, none for the whole body. ok is false when
// no part that it asks for exists. See RFC 9110, 14.2.
func (f *found) spans(request http.Header) (list []span, ok bool) {
	if !f.mayRange(request) {
		return nil, true
	}
	unit, set, _ := strings.Cut(request.Get("Range"), "=")
	if !strings.EqualFold(strings.TrimSpace(unit), "bytes") {
		return nil, true
	}
	var total int64
	for item := range strings.SplitSeq(set, ",") {
		s, valid := parseSpan(strings.TrimSpace(item), f.size)
		if !valid {
			return nil, true // a Range that cannot be understood is ignored
		}
		if s.length > 0 {
			list = append(list, s)
			total += s.length
		}
	}
	if total > f.size {
		return nil, true // the whole is less than its overlapping parts
	}
	return list, len(list) > 0
}

// mayRange obeys If-Range: a Range holds only for the response that the worker has.
func (f *found) mayRange(request http.Header) bool {
	if len(request["Range"]) == 0 {
		return false
	}
	known := request.Get("If-Range")
	etag := f.header.Get("Etag")
	return known == "" || known == f.header.Get("Last-Modified") || known == etag && !strings.HasPrefix(etag, "W/")
}

// parseSpan reads "1-2", "1-" or "-2". A part behind the end has no length.
func parseSpan(text string, size int64) (s span, valid bool) {
	first, last, dash := strings.Cut(text, "-")
	if !dash {
		return s, false
	}
	end, endErr := strconv.ParseUint(strings.TrimSpace(last), 10, 63)
	if first = strings.TrimSpace(first); first == "" {
		s.length = min(int64(end), size)
		s.start = size - s.length
		return s, endErr == nil
	}
	start, err := strconv.ParseUint(first, 10, 63)
	if err != nil || last != "" && (endErr != nil || end < start) {
		return s, false
	}
	s.start = int64(start)
	if last == "" || int64(end) >= size {
		end = uint64(max(size-1, 0))
	}
	s.length = max(0, int64(end)-s.start+1)
	if s.start >= size {
		s.length = 0
	}
	return s, true
}

func (f *found) part(w http.ResponseWriter, s span) {
	header := w.Header()
	header["Content-Range"] = []string{s.contentRange(f.size)}
	header["Content-Length"] = []string{strconv.FormatInt(s.length, 10)}
	w.WriteHeader(http.StatusPartialContent)
	f.copy(w, s)
}

// parts writes several parts as multipart/byteranges.
func (f *found) parts(w http.ResponseWriter, list []span) {
	boundary := rand.Text()
	header := w.Header()
	var kind string
	if values := header["Content-Type"]; len(values) > 0 {
		kind = "Content-Type: " + values[0] + "\r\n"
	}
	header["Content-Type"] = []string{"multipart/byteranges; boundary=" + boundary}
	w.WriteHeader(http.StatusPartialContent)
	for _, s := range list {
		//nolint:gosec // the worker gets back what it stored
		_, _ = fmt.Fprintf(w, "--%s\r\n%sContent-Range: %s\r\n\r\n", boundary, kind, s.contentRange(f.size))
		f.copy(w, s)
		_, _ = io.WriteString(w, "\r\n")
	}
	_, _ = io.WriteString(w, "--"+boundary+"--")
}

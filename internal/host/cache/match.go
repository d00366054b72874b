package cache

import (
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// match answers with the stored response, or with what of it a range or a condition
// asks for. workerd tells hits and misses apart by statusHeader.
func (c *Cache) match(w http.ResponseWriter, r *http.Request) {
	now := c.now()
	found, err := c.store.find(keyOf(r), r.Header, now)
	if err != nil {
		c.log.WarnContext(r.Context(), "cannot read a response from the cache; continuing without it", "error", err)
	}
	if found == nil {
		w.Header()[statusHeader] = []string{"MISS"}
		w.Header()["Content-Length"] = []string{"0"}
		w.WriteHeader(http.StatusGatewayTimeout)
		return
	}
	defer found.close()
	header := w.Header()
	maps.Copy(header, found.header) // the values are shared and must not be changed
	header[statusHeader] = []string{"HIT"}
	header["Age"] = []string{strconv.Itoa(int(max(0, now.Sub(found.since)) / time.Second))}
	if found.status == http.StatusOK {
		found.answer(w, r.Header)
		return
	}
	found.whole(w)
}

// answer obeys the conditions and ranges of a request.
func (f *found) answer(w http.ResponseWriter, request http.Header) {
	if isUnchanged(request, f.header) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	spans, ok := f.spans(request)
	switch {
	case !ok:
		w.Header()["Content-Range"] = []string{"bytes */" + strconv.FormatInt(f.size, 10)}
		w.Header()["Content-Length"] = []string{"0"}
		w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
	case len(spans) == 0:
		f.whole(w)
	case len(spans) == 1:
		f.part(w, spans[0])
	default:
		f.parts(w, spans)
	}
}

func (f *found) whole(w http.ResponseWriter) {
	if f.status != http.StatusNoContent {
		w.Header()["Content-Length"] = []string{strconv.FormatInt(f.size, 10)}
	}
	w.WriteHeader(f.status)
	f.copy(w, span{0, f.size})
}

// copy writes a part of the body. A body that cannot be read ends the connection: its
// length was announced.
func (f *found) copy(w io.Writer, s span) {
	if f.inMemory != nil {
		_, _ = w.Write(f.inMemory[s.start : s.start+s.length]) // a lost connection is workerd's to report
		return
	}
	_, _ = io.Copy(w, io.NewSectionReader(f.file, f.offset+s.start, s.length))
}

// isUnchanged reports whether the worker has the stored response already: If-None-Match
// names its ETag, or, without If-None-Match, If-Modified-Since is not before its
// Last-Modified. See RFC 9110, 13.1.
func isUnchanged(request, stored http.Header) bool {
	if lists := request["If-None-Match"]; len(lists) > 0 {
		etag := stored.Get("Etag")
		return etag != "" && namesETag(strings.Join(lists, ","), etag)
	}
	since, err := time.Parse(http.TimeFormat, request.Get("If-Modified-Since"))
	if err != nil {
		return false
	}
	modified, err := http.ParseTime(stored.Get("Last-Modified"))
	return err == nil && !modified.After(since)
}

// namesETag compares weakly.
func namesETag(list, etag string) bool {
	etag = strings.TrimPrefix(etag, "W/")
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if item == "*" || strings.TrimPrefix(item, "W/") == etag {
			return true
		}
	}
	return false
}

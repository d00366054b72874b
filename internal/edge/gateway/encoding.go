package gateway

import (
	"bytes"
	"strconv"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

// minCompressed is the smallest length of a body that is compressed, in bytes. A body
// without a length is compressed too.
const minCompressed = 1 << 10

// encoding is a content coding (RFC 9110, 8.4.1).
type encoding uint8

// The encodings, the preferred one last.
const (
	identity encoding = iota
	gzipped
	brotlied
	zstandard
	encodings // their number
)

var encodingNames = [encodings]string{"identity", "gzip", "br", "zstd"} //nolint:gochecknoglobals // a constant table

// encode decides whether the gateway compresses the response in x, and how. The rules
// are Cloudflare's: the status is 200, 403 or 404; the media type is text; the worker
// neither encoded the body nor forbids a transformation; the body is not known to be
// short. vary reports whether the response depends on Accept-Encoding.
func (x *request) encode() (e encoding, vary bool) {
	r := &x.resp
	switch {
	case r.Length >= 0 && r.Length < minCompressed && !r.Chunked, x.req.Minor == 0, r.BodyLess(x.req.Method):
		return identity, false
	case r.Status != 200 && r.Status != 403 && r.Status != 404:
		return identity, false
	}
	text := false
	for i := range r.List {
		f := &r.List[i]
		switch {
		case f.Kind != http1.Other:
		case http1.EqualFold(f.Name, "content-type"):
			text = isCompressible(f.Value)
		case http1.EqualFold(f.Name, "cache-control"):
			if http1.HasToken(f.Value, "no-transform") {
				return identity, false
			}
		case http1.EqualFold(f.Name, "content-encoding"), http1.EqualFold(f.Name, "content-range"),
			http1.EqualFold(f.Name, "content-digest"), http1.EqualFold(f.Name, "digest"), http1.EqualFold(f.Name, "content-md5"):
			return identity, false
		}
	}
	if !text {
		return identity, false
	}
	return accepted(x.meta.encodings), true
}

// isCompressible reports whether a media type is text, or data that compresses like
// text. Event streams are not: their events must not wait.
func isCompressible(value []byte) bool {
	media, _, _ := bytes.Cut(value, []byte{';'})
	media = bytes.ToLower(bytes.TrimSpace(media))
	if rest, ok := bytes.CutPrefix(media, []byte("text/")); ok {
		return string(rest) != "event-stream"
	}
	if bytes.HasSuffix(media, []byte("+json")) || bytes.HasSuffix(media, []byte("+xml")) {
		return true
	}
	switch string(media) {
	case "application/json", "application/javascript", "application/x-javascript", "application/xml", "application/wasm",
		"application/manifest+json", "application/graphql", "application/vnd.ms-fontobject", "application/x-ndjson",
		"font/ttf", "font/otf", "font/eot", "image/x-icon", "image/vnd.microsoft.icon", "image/bmp":
		return true
	}
	return false
}

// accepted returns the encoding with the highest weight in an Accept-Encoding field,
// of those with equal weights the preferred one.
func accepted(field []byte) encoding {
	var weights [encodings]int
	var listed [encodings]bool
	any := 0
	for len(field) > 0 {
		var item []byte
		item, field, _ = bytes.Cut(field, []byte{','})
		name, params, _ := bytes.Cut(item, []byte{';'})
		name = bytes.ToLower(bytes.TrimSpace(name))
		w := weight(params)
		if string(name) == "*" {
			any = w
		}
		for e := gzipped; e < encodings; e++ {
			if string(name) == encodingNames[e] || e == gzipped && string(name) == "x-gzip" {
				weights[e], listed[e] = w, true
			}
		}
	}
	best, most := identity, 0
	for e := gzipped; e < encodings; e++ {
		w := weights[e]
		if !listed[e] && e == gzipped {
			w = any // "*" is the encoding that each client has
		}
		if w > 0 && w >= most {
			best, most = e, w
		}
	}
	return best
}

// weight returns the weight of parameters such as "q=0.5", in thousandths; 0 for an
// invalid one.
func weight(params []byte) int {
	name, value, ok := bytes.Cut(bytes.TrimSpace(params), []byte{'='})
	if !ok || !http1.EqualFold(bytes.TrimSpace(name), "q") {
		return 1000
	}
	q, err := strconv.ParseFloat(string(bytes.TrimSpace(value)), 64)
	if err != nil || !(q >= 0 && q <= 1) {
		return 0
	}
	return int(q * 1000)
}

// appendEncoded appends the worker's fields for a compressed body: no length, no ranges,
// and a weak entity tag, because the bytes are not those of the worker.
func appendEncoded(b []byte, resp *http1.Response, e encoding) []byte {
	plain := *resp
	plain.List = make([]http1.Field, 0, len(resp.List))
	for _, f := range resp.List {
		switch {
		case f.Kind == http1.ContentLength, http1.EqualFold(f.Name, "accept-ranges"):
			continue
		case http1.EqualFold(f.Name, "etag") && !bytes.HasPrefix(f.Value, []byte("W/")):
			f.Value = append([]byte("W/"), f.Value...)
		}
		plain.List = append(plain.List, f)
	}
	b = appendFields(b, &plain)
	return append(append(append(b, "Content-Encoding: "...), encodingNames[e]...), '\r', '\n')
}

// varies reports whether the response says already that it depends on Accept-Encoding.
func varies(resp *http1.Response) bool {
	for i := range resp.List {
		f := &resp.List[i]
		if http1.EqualFold(f.Name, "vary") && (http1.HasToken(f.Value, "accept-encoding") || http1.HasToken(f.Value, "*")) {
			return true
		}
	}
	return false
}

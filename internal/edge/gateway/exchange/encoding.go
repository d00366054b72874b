package exchange

import (
	"bytes"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

// minCompressed is the smallest length of a body that is compressed, in bytes. A body
// without a length is compressed too.
const minCompressed = 1 << 10

// encode decides whether the gateway compresses the response in x, and how. The rules
// are Cloudflare's: the status is 200, 403 or 404; the media type is text; the worker
// neither encoded the body nor forbids a transformation; the body is not known to be
// short. vary reports whether the response depends on Accept-Encoding.
func (x *Request) encode() (e http1.Encoding, vary bool) {
	r := &x.Resp
	switch {
	case r.Length >= 0 && r.Length < minCompressed && !r.Chunked, x.Req.Minor == 0, r.BodyLess(x.Req.Method):
		return http1.Identity, false
	case r.Status != 200 && r.Status != 403 && r.Status != 404:
		return http1.Identity, false
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
				return http1.Identity, false
			}
		case http1.EqualFold(f.Name, "content-encoding"), http1.EqualFold(f.Name, "content-range"),
			http1.EqualFold(f.Name, "content-digest"), http1.EqualFold(f.Name, "digest"), http1.EqualFold(f.Name, "content-md5"):
			return http1.Identity, false
		}
	}
	if !text {
		return http1.Identity, false
	}
	return http1.Accepted(x.Hints.Encodings), true
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

// appendEncoded appends the worker's fields for a compressed body: no length, no ranges,
// and a weak entity tag, because the bytes are not those of the worker.
func appendEncoded(b []byte, resp *http1.Response, e http1.Encoding) []byte {
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
	b = AppendFields(b, &plain)
	return append(append(append(b, "Content-Encoding: "...), e.String()...), '\r', '\n')
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

// StartCompressing chooses how the body of the response is sent.
func (s *Service) StartCompressing(x *Request) {
	x.Compressor = nil
	if e := s.EncodingOf(x); e != http1.Identity {
		x.Compressor = s.compressors.get(e)
	}
}

// EndCompressing ends what StartCompressing began.
func (s *Service) EndCompressing(x *Request) {
	if x.Compressor != nil {
		s.compressors.put(x.Compressor)
		x.Compressor = nil
	}
}

// EncodingOf returns how the body of the response is sent.
func (s *Service) EncodingOf(x *Request) (e http1.Encoding) {
	if x.vary = false; s.cfg.Compress {
		e, x.vary = x.encode()
	}
	return e
}

package http1

import (
	"bytes"
	"strconv"
)

// Encoding is a content coding (RFC 9110, 8.4.1).
type Encoding uint8

// The encodings, the preferred one last.
const (
	Identity Encoding = iota
	Gzip
	Brotli
	Zstandard
	Encodings // their number
)

var encodingNames = [Encodings]string{"identity", "gzip", "br", "zstd"} //nolint:gochecknoglobals // a constant table

// String returns the name of the encoding in a Content-Encoding field.
func (e Encoding) String() string { return encodingNames[e] }

// Accepted returns the encoding with the highest weight in an Accept-Encoding field,
// of those with equal weights the preferred one.
func Accepted(field []byte) Encoding {
	var weights [Encodings]int
	var listed [Encodings]bool
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
		for e := Gzip; e < Encodings; e++ {
			if string(name) == encodingNames[e] || e == Gzip && string(name) == "x-gzip" {
				weights[e], listed[e] = w, true
			}
		}
	}
	best, most := Identity, 0
	for e := Gzip; e < Encodings; e++ {
		w := weights[e]
		if !listed[e] && e == Gzip {
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
	if !ok || !EqualFold(bytes.TrimSpace(name), "q") {
		return 1000
	}
	q, err := strconv.ParseFloat(string(bytes.TrimSpace(value)), 64)
	if err != nil || !(q >= 0 && q <= 1) {
		return 0
	}
	return int(q * 1000)
}

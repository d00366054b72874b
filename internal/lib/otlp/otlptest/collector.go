package otlptest

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Span is a span that the collector was sent. IDs are hex digits.
type Span struct {
	Trace, ID, Parent, Name string
	Attrs                   map[string]string // those that are texts
}

// Collector takes spans. It is safe for concurrent use.
type Collector struct {
	URL string // of the server, without a path

	mu    sync.Mutex
	spans []Span
}

// Start starts a collector, which ends with the test.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.take(body)
	}))
	t.Cleanup(s.Close)
	c.URL = s.URL
	return c
}

// Spans returns what has arrived.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Span(nil), c.spans...)
}

// take reads an ExportTraceServiceRequest.
func (c *Collector) take(body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range fields(body)[1] {
		for _, scope := range fields(resource)[2] {
			for _, s := range fields(scope)[2] {
				c.spans = append(c.spans, spanOf(fields(s)))
			}
		}
	}
}

func spanOf(f map[uint64][][]byte) Span {
	s := Span{Trace: hex.EncodeToString(first(f[1])), ID: hex.EncodeToString(first(f[2])), Parent: hex.EncodeToString(first(f[4])), Name: string(first(f[5])), Attrs: map[string]string{}}
	for _, a := range f[9] {
		attr := fields(a)
		s.Attrs[string(first(attr[1]))] = string(first(fields(first(attr[2]))[1]))
	}
	return s
}

func first(list [][]byte) []byte {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// fields reads a message of protobuf: the contents of its fields by number. Numbers are left
// out.
func fields(b []byte) map[uint64][][]byte {
	out := map[uint64][][]byte{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if b = b[max(n, 0):]; n <= 0 {
			return out
		}
		size := uint64(8) // of a number of 64 bits
		switch tag & 7 {
		case 0:
			_, n = binary.Uvarint(b)
			size = uint64(max(n, 0))
		case 2:
			size, n = binary.Uvarint(b)
			b = b[max(n, 0):]
		}
		if size > uint64(len(b)) {
			return out
		}
		if tag&7 == 2 {
			out[tag>>3] = append(out[tag>>3], b[:size])
		}
		b = b[size:]
	}
	return out
}

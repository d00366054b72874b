package http1_test

import (
	"bytes"
	"io"
	"net/http/httputil"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

// decode decodes a body, in pieces of the given size.
func decode(in string, piece int) (data, rest, trailer string, done bool, err error) {
	var c http1.Chunked
	var out []byte
	for len(in) > 0 && !c.Done() {
		b := []byte(in[:min(piece, len(in))])
		n, used, err := c.Decode(b)
		if err != nil {
			return string(out), in, "", false, err
		}
		out = append(out, b[:n]...)
		in = in[used:]
	}
	return string(out), in, string(c.Trailer), c.Done(), nil
}

func TestChunked(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in                  string
		data, rest, trailer string
		bad                 bool
	}{
		"one":             {in: "3\r\nabc\r\n0\r\n\r\nGET", data: "abc", rest: "GET"},
		"several":         {in: "1\r\na\r\nA\r\n0123456789\r\n0\r\n\r\n", data: "a0123456789"},
		"empty":           {in: "0\r\n\r\n"},
		"leading zeros":   {in: "0003\r\nabc\r\n000\r\n\r\n", data: "abc"},
		"extension":       {in: "3;a=\"b\"\r\nabc\r\n0;x\r\n\r\n", data: "abc"},
		"trailer":         {in: "0\r\nA: b\r\nC:d\r\n\r\n", trailer: "A: b\r\nC:d\r\n"},
		"framing trailer": {in: "0\r\nContent-Length: 7\r\nA: b\r\n\r\n", trailer: "A: b\r\n"},
		"no size":         {in: "\r\nabc", bad: true},
		"only extension":  {in: ";a\r\n", bad: true},
		"space":           {in: "3 \r\nabc\r\n", bad: true},
		"sign":            {in: "+3\r\nabc\r\n", bad: true},
		"0x":              {in: "0x3\r\nabc\r\n", bad: true},
		"bare LF":         {in: "3\nabc\r\n", bad: true},
		"LF in extension": {in: "3;a\nb\r\nabc\r\n", bad: true},
		"CR in extension": {in: "3;a\rb\r\nabc\r\n", bad: true},
		"long data":       {in: "3\r\nabcd\r\n", bad: true},
		"LF behind data":  {in: "3\r\nabc\n0\r\n\r\n", bad: true},
		"too large":       {in: "1000000000000000\r\n", bad: true},
		"overflow":        {in: "ffffffffffffffffffff\r\n", bad: true},
		"endless line":    {in: "3;" + strings.Repeat("a", 300), bad: true},
		"folded trailer":  {in: "0\r\nA: b\r\n c\r\n\r\n", bad: true},
		"bare LF trailer": {in: "0\r\nA: b\n\r\n", bad: true},
		"huge trailer":    {in: "0\r\nA: " + strings.Repeat("b", 9000) + "\r\n\r\n", bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, piece := range []int{1, 2, 7, 1 << 20} {
				data, rest, trailer, done, err := decode(tc.in, piece)
				if tc.bad {
					if err == nil {
						t.Fatalf("pieces of %d: accepted, done %v", piece, done)
					}
					continue
				}
				if err != nil || !done || data != tc.data || rest != tc.rest || trailer != tc.trailer {
					t.Fatalf("pieces of %d: %q, %q, %q, %v, %v", piece, data, rest, trailer, done, err)
				}
			}
		})
	}
}

func TestAppendChunkSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "1\r\n", 15: "f\r\n", 16: "10\r\n", 32768: "8000\r\n", 1 << 30: "40000000\r\n"} {
		if got := string(http1.AppendChunkSize(nil, n)); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// FuzzChunked checks that the result does not depend on the pieces, and that net/http
// decodes each accepted body to the same data.
func FuzzChunked(f *testing.F) {
	for _, s := range []string{"3\r\nabc\r\n0\r\n\r\n", "1;x\r\na\r\n0\r\nA: b\r\n\r\n", "a\r\n0123456789\r\n"} {
		f.Add([]byte(s), uint8(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, piece uint8) {
		data, rest, trailer, done, err := decode(string(in), len(in)+1)
		data2, rest2, trailer2, done2, err2 := decode(string(in), int(piece)+1)
		if (err == nil) != (err2 == nil) || err == nil && (data != data2 || rest != rest2 || trailer != trailer2 || done != done2) {
			t.Fatalf("pieces of %d: %q %v, whole: %q %v", int(piece)+1, data2, err2, data, err)
		}
		if err != nil || !done {
			return
		}
		std, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(in)))
		if err == nil && string(std) != data {
			t.Errorf("net/http decodes %q, Chunked %q", std, data)
		}
	})
}

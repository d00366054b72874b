package http1_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

func TestResponseGrammar(t *testing.T) {
	t.Parallel()
	for head, ok := range map[string]bool{
		"HTTP/1.1 200 OK\r\n\r\n":                                                    true,
		"HTTP/1.1 200\r\n\r\n":                                                       true,
		"HTTP/1.1 299 All quite well\r\nContent-Length: 3\r\n\r\n":                   true,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n":                      true,
		"HTTP/1.1 99 No\r\n\r\n":                                                     false,
		"HTTP/1.1 2000 No\r\n\r\n":                                                   false,
		"HTTP/2 200 No\r\n\r\n":                                                      false,
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n":          false,
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n": false,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n":                         false,
	} {
		var r http1.Response
		if err := r.Parse([]byte(head)); (err == nil) != ok {
			t.Errorf("%q: %v", head, err)
		}
	}
}

func TestResponseParts(t *testing.T) {
	t.Parallel()
	var r http1.Response
	if err := r.Parse([]byte("HTTP/1.1 404 Not here\r\nContent-Length: 5\r\nConnection: close\r\nETag: x\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if r.Status != 404 || string(r.StatusLine) != "404 Not here" || r.Length != 5 || r.KeepsAlive() || string(r.Get("etag")) != "x" {
		t.Errorf("%+v", r)
	}
	if r.BodyLess([]byte("GET")) || !r.BodyLess([]byte("HEAD")) {
		t.Error("only the response to HEAD has no body here")
	}
}

func FuzzResponse(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var r http1.Response
		n, err := http1.FindHead(in, 0)
		if err != nil || n == 0 || r.Parse(in[:n]) != nil {
			return
		}
		if r.Status < 100 || r.Status > 999 || r.Length >= 0 && r.Chunked {
			t.Errorf("%+v", r)
		}
	})
}

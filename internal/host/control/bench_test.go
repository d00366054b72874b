package control_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/internal/host/control"
)

// BenchmarkPing is the shortest call.
func BenchmarkPing(b *testing.B) {
	for name, connect := range lines() {
		b.Run("line="+name, func(b *testing.B) {
			daemon, there := connect(b)
			client, _, _ := start(b, daemon, there, newHost(), unheard)
			for b.Loop() {
				if _, err := client.Ping(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkData is a request of the API for a version's data, on the line's part of
// its way.
func BenchmarkData(b *testing.B) {
	const large = 32 << 20
	content := bytes.Repeat([]byte("x"), large)
	for name, connect := range lines() {
		daemon, there := connect(b)
		h := newHost()
		client, _, _ := start(b, daemon, there, h, unheard)
		h.data = func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				_, _ = io.Copy(io.Discard, r.Body)
				return
			}
			size := int64(1 << 10)
			if r.URL.Path == "/large" {
				size = large
			}
			_, _ = io.Copy(w, io.LimitReader(bytes.NewReader(content), size))
		}
		for _, bench := range []struct {
			name, method, path string
			size               int64
		}{{"get=1KB", "GET", "/small", 1 << 10}, {"get=32MB", "GET", "/large", large}, {"put=32MB", "PUT", "/large", large}} {
			b.Run("line="+name+"/"+bench.name, func(b *testing.B) {
				b.SetBytes(bench.size)
				for b.Loop() {
					transfer(b, client, bench.method, bench.path, content)
				}
			})
		}
	}
}

func transfer(b *testing.B, client *control.Client, method, path string, content []byte) {
	b.Helper()
	var body io.Reader
	if method == http.MethodPut {
		body = bytes.NewReader(content)
	}
	resp, err := ask(b.Context(), client, method, path, body)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		b.Fatal(err)
	}
}

package database

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/svcctl/svcctl/internal/host/binding"
)

// buffers are kept for the next answers, unless they have grown large.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }} //nolint:gochecknoglobals // a pool

const maxKeptBuffer = 64 << 10

// ServeHTTP answers the module client.js: POST /calls, an array of calls, with an array of
// as many answers or fewer, each {"results":[…],"bookmark":"…"} or {"error":"…"}. A short
// array comes as GET /calls?array, which costs workerd less than a body.
func (d *database) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, array, inURL := strings.Cut(r.RequestURI, "?")
	if path != "/calls" || inURL != (r.Method == http.MethodGet) || !inURL && r.Method != http.MethodPost {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"Not found"}`)
		return
	}
	buffer, _ := buffers.Get().(*bytes.Buffer)
	defer func() {
		if buffer.Cap() <= maxKeptBuffer {
			buffers.Put(buffer)
		}
	}()
	buffer.Reset()
	var large binding.Large
	defer large.Release()
	ctx := r.Context()
	out := &answers{Buffer: buffer, grow: func() error { return large.Acquire(ctx) }}
	calls, err := readCalls(r, &large)
	if inURL {
		calls, err = readURL(array)
	}
	if err == nil {
		d.run(ctx, calls, out)
	} else {
		out.refuse(err)
	}
	binding.Reply(w, "application/json", out.Buffer.Bytes())
}

// refuse answers a request whose calls are unknown: the worker sends all but the first again.
func (a *answers) refuse(err error) {
	a.Buffer.WriteByte('[')
	a.fail(a.begin(), err)
	a.Buffer.WriteByte(']')
}

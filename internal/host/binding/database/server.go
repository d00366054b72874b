package database

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/svcctl/svcctl/internal/host/binding"
)

// bookmarkHeader carries a session's position both ways.
const bookmarkHeader = "X-Cf-D1-Session-Commit-Token"

// buffers are kept for the next answers, unless they have grown large.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }} //nolint:gochecknoglobals // a pool

const maxKeptBuffer = 64 << 10

// ServeHTTP answers workerd's D1 binding.
func (d *database) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, params, _ := strings.Cut(r.RequestURI, "?")
	if r.Method != http.MethodPost || path != "/query" && path != "/execute" {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"Not found"}`)
		return
	}
	f := asObjects
	if strings.Contains(params, "resultsFormat=ROWS_AND_COLUMNS") {
		f = asArrays
	}
	out, _ := buffers.Get().(*bytes.Buffer)
	defer func() {
		if out.Cap() <= maxKeptBuffer {
			buffers.Put(out)
		}
	}()
	out.Reset()
	if err := d.answer(r, f, out); err != nil {
		out.Reset()
		writeFailure(out, describe(err))
	} else if strings.TrimSpace(r.Header.Get(bookmarkHeader)) != "" {
		w.Header()[bookmarkHeader] = []string{d.bookmarks.next()}
	}
	binding.Reply(w, "application/json", out.Bytes())
}

func (d *database) answer(r *http.Request, f format, out *bytes.Buffer) error {
	list, err := readQueries(r)
	if err != nil {
		return err
	}
	return d.run(r.Context(), list, f, out)
}

// writeFailure writes the one answer that the binding makes an exception of,
// whatever the status.
func writeFailure(out *bytes.Buffer, text string) {
	out.WriteString(`{"success":false,"error":`)
	quoted, err := json.Marshal(text)
	if err != nil { // a string always encodes
		quoted = []byte(`""`)
	}
	out.Write(quoted)
	out.WriteByte('}')
}

package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
)

//go:embed static
var staticFiles embed.FS

// file is an embedded file; packed is compressed with gzip.
type file struct {
	kind         string
	name         string // with a hash of the content, for caches
	body, packed []byte
}

// readStatic returns the embedded files by name.
func readStatic() (map[string]file, error) {
	entries, err := staticFiles.ReadDir("static")
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	kinds := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
	files := map[string]file{}
	for _, e := range entries {
		body, err := staticFiles.ReadFile("static/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("dashboard: %w", err)
		}
		sum := sha256.Sum256(body)
		f := file{kind: kinds[path.Ext(e.Name())], name: e.Name() + "?" + hex.EncodeToString(sum[:6]), body: body}
		if f.packed, err = pack(body); err != nil {
			return nil, err
		}
		files[e.Name()] = f
	}
	return files, nil
}

func pack(body []byte) ([]byte, error) {
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = zip.Write(body)
	}
	if err == nil {
		err = zip.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	return out.Bytes(), nil
}

// serveStatic answers GET /-/{file}.
func (d *Dashboard) serveStatic(w http.ResponseWriter, r *http.Request) {
	f, ok := d.static[r.PathValue("file")]
	if !ok {
		d.fail(&call{w: w, r: r}, &statusError{http.StatusNotFound, "There is no such file."})
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	body := f.body
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.packed
	}
	_, _ = w.Write(body) // a browser that left
}

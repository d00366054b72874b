package site_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/site"
)

// onDisk is the site of files with their content.
func onDisk(t *testing.T, m bundle.Manifest, files map[string]string) (*site.Site, string) {
	t.Helper()
	dir := t.TempDir()
	a := &bundle.Assets{NotFoundHandling: bundle.NotFoundSPA}
	for name, text := range files {
		path := filepath.Join(dir, "assets", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a.Files = append(a.Files, bundle.File{Path: bundle.AssetPath(name), SHA256: name, Size: int64(len(text))})
	}
	m.Assets = a
	return site.New(&m, dir), dir
}

// A call of another worker gets what a visitor gets, or hears that the worker answers.
func TestServeVisitor(t *testing.T) {
	t.Parallel()
	s, _ := onDisk(t, bundle.Manifest{Main: "w.js"}, map[string]string{"index.html": "home", "a.txt": "0123456789"})
	for _, test := range []struct {
		method, path string
		status       int
		worker       string
	}{
		{"GET", "/a.txt", 200, ""},
		{"POST", "/a.txt", 405, ""},
		{"GET", "/index.html", 307, ""},
		{"GET", "/any/page", 204, "1"},
		{"POST", "/api", 204, "1"},
	} {
		w := httptest.NewRecorder()
		s.ServeVisitor(w, httptest.NewRequest(test.method, "http://assets.local"+test.path, strings.NewReader("body")))
		if w.Code != test.status || w.Header().Get(site.WorkerHeader) != test.worker {
			t.Errorf("%s %s: %d %v", test.method, test.path, w.Code, w.Header())
		}
	}
}

// A worker gets through its binding what the files say, not_found_handling included.
func TestServeHTTP(t *testing.T) {
	t.Parallel()
	s, dir := onDisk(t, bundle.Manifest{Main: "w.js"}, map[string]string{"index.html": "home", "a.txt": "0123456789", "gone.txt": "x"})
	if err := os.Remove(filepath.Join(dir, "assets", "gone.txt")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		method, path, ranged string
		status               int
		body                 string
	}{
		{"GET", "/a.txt", "", 200, "0123456789"},
		{"GET", "/a.txt", "bytes=2-3", 206, "23"},
		{"HEAD", "/a.txt", "", 200, ""},
		{"PUT", "/a.txt", "", 405, ""},
		{"GET", "/index.html", "", 307, ""},
		{"GET", "/any/page", "", 200, "home"},
		{"GET", "/gone.txt", "", 500, "the asset cannot be read"},
	} {
		r := httptest.NewRequest(test.method, "http://assets.local"+test.path, strings.NewReader("body"))
		if test.ranged != "" {
			r.Header.Set("Range", test.ranged)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != test.status || !strings.HasPrefix(w.Body.String(), test.body) || test.body == "" && w.Body.Len() > 0 {
			t.Errorf("%s %s: %d %q", test.method, test.path, w.Code, w.Body)
		}
	}
}

// A compressed form is made once, also for the process after this one, and only if it is
// smaller.
func TestVariants(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("text ", 1000)
	files := map[string]string{"a.js": text, "small.js": "text", "image.png": text, "noise.js": noise(2000)}
	s, dir := onDisk(t, bundle.Manifest{}, files)
	for range 2 {
		for request, want := range map[string]string{"/a.js": "br", "/small.js": "", "/image.png": "", "/noise.js": "", "/a.js | range: bytes=0-1": ""} {
			path, fields, _ := strings.Cut(request, " | range: ")
			a, _ := s.Route(&site.Request{Method: http.MethodGet, Target: path, Encoding: "br", Field: func(name string) string {
				if name == "range" {
					return fields
				}
				return ""
			}})
			if a.Header.Get("Content-Encoding") != want || want != "" && a.Length >= int64(len(text)) {
				t.Errorf("%s: %v", request, a.Header)
			}
		}
		again := bundle.Manifest{Assets: &bundle.Assets{}}
		for name, content := range files {
			again.Assets.Files = append(again.Assets.Files, bundle.File{Path: bundle.AssetPath(name), SHA256: name, Size: int64(len(content))})
		}
		s = site.New(&again, dir)
	}
	made, err := os.ReadDir(filepath.Join(dir, "compressed"))
	if err != nil || len(made) != 2 {
		t.Errorf("compressed forms: %v, %v", made, err)
	}
}

// A prompt request does not wait for a compressed form to be made.
func TestPrompt(t *testing.T) {
	t.Parallel()
	s, _ := onDisk(t, bundle.Manifest{}, map[string]string{"a.js": strings.Repeat("text ", 1000)})
	for i, test := range []struct {
		prompt bool
		ranged string
		late   bool
		status int
	}{
		{true, "bytes=0-1", false, http.StatusPartialContent}, // a range is not compressed
		{true, "", true, 0},
		{false, "", false, http.StatusOK}, // it is made here
		{true, "", false, http.StatusOK},
	} {
		a, ok := s.Route(&site.Request{Method: http.MethodGet, Target: "/a.js", Encoding: "gzip", Prompt: test.prompt, Field: func(name string) string {
			return map[string]string{"range": test.ranged}[name]
		}})
		if !ok || a.Late != test.late || a.Status != test.status || a.Status == http.StatusOK && a.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("request %d: %v, %+v", i+1, ok, a)
		}
	}
}

// noise is text that no encoding makes smaller.
func noise(n int) string {
	b := make([]byte, n)
	x := uint64(88172645463325252)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x >> 24)
	}
	return string(b)
}

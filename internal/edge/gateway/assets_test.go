package gateway_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// unpack writes the unpacked bundle of a worker with assets and returns its directory.
func unpack(t testing.TB, files map[string]string) string {
	t.Helper()
	tree := bundle.Tree{"modules/w.js": []byte("export default {}")}
	a := &bundle.Assets{}
	for name, text := range files {
		tree[bundle.AssetPath(name)] = []byte(text)
		a.Files = append(a.Files, bundle.File{Path: bundle.AssetPath(name)})
	}
	var packed bytes.Buffer
	if _, err := bundle.Pack(&packed, bundle.Manifest{
		Main: "w.js", CompatibilityDate: "2026-11-01", Modules: []bundle.Module{{Name: "w.js", Type: bundle.ESModule}}, Assets: a,
	}, tree); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	object := filepath.Join(dir, "bundle")
	if err := os.WriteFile(object, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.Extract(t.Context(), object, filepath.Join(dir, "out"), bundle.Limits{}); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "out")
}

func TestAssets(t *testing.T) { engines(t, testAssets) }

func testAssets(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, Compress: true})
	large := strings.Repeat("0123456789abcdef", 20_000)
	dir := unpack(t, map[string]string{"a.txt": "the text", "large.js": large, "small.js": large[:2000], "noise.bin": large, "empty.css": "", "gone.txt": "x"})
	if err := os.Remove(filepath.Join(dir, "assets", "gone.txt")); err != nil {
		t.Fatal(err)
	}
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, BundleDir: dir, Endpoint: svc.Endpoint{Socket: always(t, "worker"), PID: 1}})
	tests := []struct {
		method, path, headers string
		status                int
		body, encoding        string
	}{
		{"GET", "/a.txt", "", 200, "the text", ""},
		{"HEAD", "/a.txt", "", 200, "", ""},
		{"GET", "/a.txt", "Range: bytes=4-5", 206, "te", ""},
		{"POST", "/a.txt", "", 405, "", ""},
		{"GET", "/empty.css", "", 200, "", ""},
		{"GET", "/large.js", "", 200, large, ""},
		{"GET", "/large.js", "Accept-Encoding: gzip", 200, large, "gzip"},
		{"GET", "/large.js", "Accept-Encoding: gzip, br", 200, large, "br"},
		{"GET", "/large.js", "Accept-Encoding: gzip, br, zstd", 200, large, "zstd"},
		{"GET", "/large.js", "Accept-Encoding: zstd", 200, large, "zstd"},
		{"HEAD", "/large.js", "Accept-Encoding: zstd", 200, "", "zstd"},
		{"GET", "/noise.bin", "Accept-Encoding: br", 200, large, ""},
		{"GET", "/other", "", 200, "worker", ""},
		{"GET", "/small.js", "Accept-Encoding: br", 200, large[:2000], "br"},
		{"GET", "/small.js", "", 200, large[:2000], ""},
		{"GET", "/small.js", "Range: bytes=10-", 206, large[10:2000], ""},
		{"POST", "/other", "", 200, "worker", ""},
	}
	for _, test := range slices.Concat(tests, tests) { // the second time, small files are in memory
		var body io.Reader
		if test.method == http.MethodPost {
			body = strings.NewReader("a body that the files do not read")
		}
		req := request(t, test.method, "v1.shop.apps.test", test.path, body)
		if name, value, ok := strings.Cut(test.headers, ": "); ok {
			req.Header.Set(name, value)
		}
		a, text := b.do(t, req)
		if test.method == http.MethodGet {
			plain, err := io.ReadAll(decoded(t, a.Header.Get("Content-Encoding"), strings.NewReader(text)))
			if err != nil {
				t.Error(err)
			}
			text = string(plain)
		}
		if a.StatusCode != test.status || text != test.body || a.Header.Get("Content-Encoding") != test.encoding || a.Header.Get("Svc-Version") != "v1" || a.ContentLength < 0 {
			t.Errorf("%s %s %s: %s, %d bytes, %v", test.method, test.path, test.headers, a.Status, len(text), a.Header)
		}
		if test.encoding != "" && (a.Header.Get("Vary") != "Accept-Encoding" || !strings.HasPrefix(a.Header.Get("Etag"), `W/"`)) {
			t.Errorf("%s %s: %v", test.path, test.headers, a.Header)
		}
	}
	req := request(t, http.MethodGet, "v1.shop.apps.test", "/large.js", nil)
	first, _ := b.do(t, req)
	req.Header.Set("If-None-Match", first.Header.Get("Etag"))
	if a, text := b.do(t, req); a.StatusCode != http.StatusNotModified || text != "" {
		t.Errorf("the same entity tag: %s %q", a.Status, text)
	}
	if a, _ := b.get(t, "v1.shop.apps.test", "/gone.txt"); a.StatusCode != http.StatusInternalServerError || a.Header.Get("Svc-Error") != "asset_unreadable" {
		t.Errorf("a file that is gone: %s %v", a.Status, a.Header)
	}
	// A client has the last byte before the gateway has counted the request as ended.
	svctest.Eventually(t, "no request is in flight", func() bool { return b.Routes()[0].Inflight == 0 })
	assetsWithoutRuntime(t, b, dir)
	assetsInMemory(t, b)
}

// assetsInMemory: a small file is read once for all versions of a project, and once more for
// another project. A large one is read each time.
func assetsInMemory(t *testing.T, b *bench) {
	t.Helper()
	files := map[string]string{"kept.txt": "kept", "large.bin": strings.Repeat("x", 1<<20)}
	show := func(ref svc.Ref) (dir string) {
		dir = unpack(t, files)
		b.SetVersion(ref, svc.Upstream{Status: svc.StatusReady, BundleDir: dir})
		return filepath.Join(dir, "assets")
	}
	want := func(host, path string, status int) {
		t.Helper()
		if a, _ := b.get(t, host, path); a.StatusCode != status {
			t.Errorf("%s%s: %s, want %d", host, path, a.Status, status)
		}
	}
	dir := show(shop)
	want("v1.shop.apps.test", "/kept.txt", http.StatusOK)
	want("v1.shop.apps.test", "/large.bin", http.StatusOK)
	if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(show(svc.Ref{Project: "other", Version: "v1"}))); err != nil {
		t.Fatal(err)
	}
	want("v1.shop.apps.test", "/kept.txt", http.StatusOK)
	want("v1.shop.apps.test", "/large.bin", http.StatusInternalServerError)
	want("v1.other.apps.test", "/kept.txt", http.StatusInternalServerError)
}

// assetsWithoutRuntime: files are sent while the runtime restarts, and not by a version
// that is archived.
func assetsWithoutRuntime(t *testing.T, b *bench, dir string) {
	t.Helper()
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, Starting: true, BundleDir: dir})
	if a, text := b.get(t, "v1.shop.apps.test", "/a.txt"); text != "the text" {
		t.Errorf("while the runtime starts: %s %q", a.Status, text)
	}
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusArchived})
	if a, _ := b.get(t, "v1.shop.apps.test", "/a.txt"); a.Header.Get("Svc-Error") != "version_archived" {
		t.Errorf("archived: %s", a.Status)
	}
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, BundleDir: filepath.Join(dir, "nowhere"), Endpoint: svc.Endpoint{Socket: always(t, "worker"), PID: 2}})
	if _, text := b.get(t, "v1.shop.apps.test", "/a.txt"); text != "worker" {
		t.Errorf("without a bundle: %q", text)
	}
}

// BenchmarkAsset sends a file of 10 KB over a kept connection.
func BenchmarkAsset(b *testing.B) {
	g := start(b, gateway.Config{})
	dir := unpack(b, map[string]string{"a.png": strings.Repeat("x", 10<<10)})
	g.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, BundleDir: dir})
	c := g.raw(b)
	b.ReportAllocs()
	for b.Loop() {
		c.send("GET /a.png HTTP/1.1\r\nHost: v1.shop.apps.test\r\n\r\n")
		if _, body := c.answer(http.MethodGet); len(body) != 10<<10 {
			b.Fatalf("%d bytes", len(body))
		}
	}
}

package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

const worker = `export default { fetch() { return new Response("hello") } }`

// sample is a bundle that uses every part of the format.
func sample(t testing.TB) (bundle.Manifest, bundle.Tree) {
	t.Helper()
	flags, err := bundle.JSONVar(json.RawMessage(`{"beta": true, "n": 12345678901234567890}`))
	if err != nil {
		t.Fatal(err)
	}
	files := bundle.Tree{
		"modules/index.js":                 []byte(worker),
		"modules/lib/add.wasm?module":      []byte("\x00asm\x01\x00\x00\x00"),
		"modules/ünïcode.txt":              []byte("grüße"),
		"seed/DB/0001_guests.sql":          []byte("insert into t values (1)"),
		"seed/DB/0002_more.sql":            []byte("insert into t values (2)"),
		"seed/KV.jsonl":                    []byte(`{"key":"a","value":"b"}`),
		"seed/FILES/images/.logo é.png":    []byte("PNG"),
		"sourcemaps/index.js.map":          []byte(`{"version":3}`),
		"migrations/DB/0001_init.sql":      []byte("create table t (a)"),
		"migrations/DB/sub/0002_index.sql": []byte("create index i on t (a)"),
		"assets/index.html":                []byte("<h1>hello</h1>"),
		"assets/img/.logo é.png":           []byte("PNG"),
	}
	return bundle.Manifest{
		Name: "guestbook", Main: "index.js",
		Modules: []bundle.Module{
			{Name: "index.js", Type: bundle.ESModule},
			{Name: "lib/add.wasm?module", Type: bundle.Wasm},
			{Name: "ünïcode.txt", Type: bundle.Text},
		},
		CompatibilityDate: "2026-11-01", CompatibilityFlags: []string{"nodejs_compat"},
		Vars: map[string]bundle.Var{"GREETING": bundle.TextVar("<hello>"), "FLAGS": flags},
		Bindings: []bundle.Binding{
			{Name: "DB", Kind: "database", Resource: "guests"},
			{Name: "KV", Kind: "kv", Resource: "cache"},
			{Name: "VERSION", Kind: "version_metadata"},
			{Name: "FILES", Kind: "object_store", Resource: "files"},
		},
		Seeds: []bundle.Seeds{
			{Binding: "DB", Files: []bundle.File{{Path: "seed/DB/0001_guests.sql"}, {Path: "seed/DB/0002_more.sql"}}},
			{Binding: "KV", Files: []bundle.File{{Path: "seed/KV.jsonl"}}},
			{Binding: "FILES", Files: []bundle.File{{Path: "seed/FILES/images/.logo é.png"}}},
		},
		Migrations: []bundle.Migrations{{Binding: "DB", Table: "d1_migrations", Files: []bundle.File{
			{Path: "migrations/DB/0001_init.sql"}, {Path: "migrations/DB/sub/0002_index.sql"},
		}}},
		SourceMaps: []bundle.File{{Path: "sourcemaps/index.js.map"}},
		Assets: &bundle.Assets{
			Binding: "ASSETS", HTMLHandling: bundle.HTMLNone, NotFoundHandling: bundle.NotFoundSPA,
			RunWorkerFirst: bundle.WorkerFirst{Patterns: []string{"/api/*", "!/api/docs/*"}},
			Redirects:      []bundle.Redirect{{From: "/old/*", To: "/new/:splat", Status: 301}},
			Headers: []bundle.HeaderRule{
				{Path: "https://x.example/*", Set: []bundle.Header{{Name: "X-A", Value: "b"}}, Unset: []string{"ETag"}},
			},
			Files: []bundle.File{{Path: "assets/img/.logo é.png"}, {Path: "assets/index.html"}},
		},
	}, files
}

func packSample(t testing.TB) (data []byte, packed bundle.Packed) {
	t.Helper()
	m, files := sample(t)
	var b bytes.Buffer
	packed, err := bundle.Pack(&b, m, files)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), packed
}

// entry is one entry of an archive made by hand.
type entry struct {
	header tar.Header
	body   []byte
}

func file(name, body string) entry {
	return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}, []byte(body)}
}

func tarOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		e.header.Size = int64(len(e.body))
		if err := w.WriteHeader(&e.header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstdOf(t testing.TB, data []byte, opts ...zstd.EOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipOf(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

// hello is the smallest manifest, with its module.
func hello(t testing.TB) (manifest, module entry) {
	t.Helper()
	m := bundle.Manifest{
		SchemaVersion: bundle.SchemaVersion, Main: "index.js", CompatibilityDate: "2026-11-01", CompatibilityFlags: []string{},
		Modules: []bundle.Module{{Name: "index.js", Type: bundle.ESModule, SHA256: sum(worker), Size: int64(len(worker))}},
	}
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return file("manifest.json", string(data)), file("modules/index.js", worker)
}

func extract(t testing.TB, data []byte, limits bundle.Limits) (dir string, m bundle.Manifest, err error) {
	t.Helper()
	tmp := t.TempDir()
	name := filepath.Join(tmp, "bundle")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(tmp, "out")
	m, err = bundle.Extract(t.Context(), name, dir, limits)
	return dir, m, err
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if got := svc.CodeOf(err); got != code {
		t.Fatalf("code = %q, want %q; error: %v", got, code, err)
	}
}

type repeat byte

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

var _ io.Reader = repeat(0)

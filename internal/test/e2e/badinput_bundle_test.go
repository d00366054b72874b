//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/pkg/api"
)

// badBundle is an upload and the expected end of its version.
type badBundle struct {
	data   []byte
	digest string // sent with the create request; "" for none
	code   string
	words  []string
}

// TestBadBundles uploads invalid bundles. Each version fails in the step fetching with
// a reason, and the daemon keeps no file of it.
// spec: [C4.12] [C7.13] [C7.18]
func TestBadBundles(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_ORCH_WORKERS=2", "SVC_MAX_BUNDLE_SIZE=8MiB", "SVC_MAX_MODULES_SIZE=1MiB", "SVC_MAX_BUNDLE_FILES=50")
	d.project("bad")
	t.Run("each", func(t *testing.T) {
		for name, tt := range badBundles(t) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d := d.on(t)
				d.push("bad", api.CreateVersion{ID: name, ArtifactDigest: tt.digest}, tt.data)
				d.failed("bad", name, "fetching", tt.code, tt.words...)
			})
		}
	})
	d.idle()
	if _, err := os.Stat(filepath.Join(d.home, "escaped")); err == nil {
		t.Error("a bundle wrote outside of its directory")
	}
	d.livesOn()
}

func badBundles(t *testing.T) map[string]badBundle {
	t.Helper()
	good := script(t, helloScript)
	wrong := "sha256:" + strings.Repeat("0", 64)
	sum := sha256.Sum256(good)
	const next = bundle.SchemaVersion + 1
	format, reads := fmt.Sprintf(`"schema_version":%d`, bundle.SchemaVersion), fmt.Sprintf("reads format %d", bundle.SchemaVersion)
	manifest, module := helloEntries(t)
	broken := bytes.Clone(good)
	broken[len(broken)/2] ^= 0xff
	return map[string]badBundle{
		"truncated":      {data: good[:len(good)/2], code: "bundle_truncated", words: []string{"bundle is truncated", "upload it again"}},
		"truncated-gzip": {data: half(gzipped(tarred(t, manifest, module))), code: "bundle_truncated", words: []string{"upload it again"}},
		"one-byte":       {data: good[:1], code: "bundle_truncated"},
		"broken":         {data: broken, code: "bundle_format", words: []string{"svcctl bundle"}},
		"wrong-digest": {data: good, digest: wrong, code: "digest_mismatch", words: []string{
			wrong, "sha256:" + hex.EncodeToString(sum[:]), "create a new version",
		}},
		"not-an-archive": {data: []byte("<html>404 not found</html>"), code: "bundle_format", words: []string{"neither zstd nor gzip"}},
		"zip":            {data: []byte("PK\x03\x04" + strings.Repeat("x", 100)), code: "bundle_format"},
		"not-a-tar":      {data: zstded(bytes.Repeat([]byte("no tar"), 1000)), code: "bundle_format"},
		"path-escape":    escape(t, "../../../../../escaped"),
		"path-hidden":    escape(t, "modules/../../../../../../escaped"),
		"path-absolute":  escape(t, "/tmp/escaped"),
		"path-backslash": escape(t, `modules\..\..\escaped`),
		"symlink": {
			data: zstded(tarred(t, manifest, entry{tar.Header{Typeflag: tar.TypeSymlink, Name: "modules/index.js", Linkname: "/etc/passwd"}, nil})),
			code: "bundle_path", words: []string{"modules/index.js", "symbolic link", "only plain files"},
		},
		"hardlink": {
			data: zstded(tarred(t, manifest, entry{tar.Header{Typeflag: tar.TypeLink, Name: "modules/index.js", Linkname: "manifest.json"}, nil})),
			code: "bundle_path", words: []string{"hard link"},
		},
		"device": {
			data: zstded(tarred(t, manifest, entry{tar.Header{Typeflag: tar.TypeChar, Name: "modules/index.js", Devmajor: 1, Devminor: 5}, nil})),
			code: "bundle_path", words: []string{"a device"},
		},
		"twice":         {data: zstded(tarred(t, manifest, module, module)), code: "bundle_path", words: []string{"modules/index.js", "twice"}},
		"no-manifest":   {data: zstded(tarred(t, module)), code: "bundle_mismatch", words: []string{"no manifest.json"}},
		"no-module":     {data: zstded(tarred(t, manifest)), code: "bundle_mismatch", words: []string{"modules/index.js"}},
		"more-files":    {data: zstded(tarred(t, manifest, module, file("modules/more.js", "1"))), code: "bundle_mismatch", words: []string{"modules/more.js"}},
		"other-content": {data: zstded(tarred(t, manifest, file("modules/index.js", helloScript+" "))), code: "bundle_mismatch", words: []string{"modules/index.js"}},
		"bomb-zstd":     {data: zeros(t, zstdWriter, 64<<20), code: "bundle_too_large", words: []string{"8 MiB"}},
		"bomb-gzip":     {data: zeros(t, gzipWriter, 64<<20), code: "bundle_too_large", words: []string{"8 MiB"}},
		"bomb-tail":     {data: tail(t, manifest, module, 64<<20), code: "bundle_format", words: []string{"followed by more than padding"}},
		"bomb-files":    {data: zstded(tarred(t, many(manifest, 1000)...)), code: "bundle_too_large", words: []string{"more than 50 files"}},
		"modules-size":  {data: bundled(t, bundle.Manifest{}, map[string]string{"modules/index.js": helloScript + strings.Repeat(" ", 2<<20)}), code: "bundle_too_large", words: []string{"1 MiB", "minify"}},

		"module-type":     manifested(t, "module_type_unknown", `"type":"esm"`, `"type":"python"`, "index.js", "python", "esm, commonjs, text, data, wasm, json or script"),
		"newer-format":    manifested(t, "manifest_version", format, fmt.Sprintf(`"schema_version":%d`, next), fmt.Sprintf("format %d", next), reads, "upgrade the server"),
		"older-format":    manifested(t, "manifest_version", format, `"schema_version":4`, "format 4", reads, "pack the worker again with svcctl 0.1.0"),
		"manifest-json":   manifested(t, "manifest_invalid", format, format+",,"),
		"manifest-field":  manifested(t, "manifest_invalid", format, format+`,"timer":"* * * * *"`, "timer"),
		"manifest-main":   manifested(t, "manifest_invalid", `"main":"index.js"`, `"main":"other.js"`, "other.js", "not among the modules"),
		"manifest-escape": manifested(t, "manifest_invalid", `"name":"index.js"`, `"name":"../index.js"`, "../index.js", "leaves the bundle"),
		"manifest-date":   manifested(t, "manifest_invalid", `"2026-11-01"`, `"soon"`, "soon", "YYYY-MM-DD"),
	}
}

// manifested is a bundle whose manifest has old replaced.
func manifested(t *testing.T, code, old, replacement string, words ...string) badBundle {
	t.Helper()
	manifest, module := helloEntries(t)
	text := strings.Replace(string(manifest.body), old, replacement, 1)
	if text == string(manifest.body) {
		t.Fatalf("the manifest has no %s: %s", old, text)
	}
	return badBundle{data: zstded(tarred(t, file("manifest.json", text), module)), code: code, words: words}
}

// escape is a bundle with a file at a path that leads out of it.
func escape(t *testing.T, path string) badBundle {
	t.Helper()
	manifest, module := helloEntries(t)
	return badBundle{data: zstded(tarred(t, manifest, file(path, "gotcha"), module)), code: "bundle_path"}
}

// entry is one entry of an archive made by hand.
type entry struct {
	header tar.Header
	body   []byte
}

func file(name, body string) entry {
	return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}, []byte(body)}
}

// helloEntries are the two files of the smallest bundle. Its manifest is
// compact.
func helloEntries(t *testing.T) (manifest, module entry) {
	t.Helper()
	sum := sha256.Sum256([]byte(helloScript))
	m := bundle.Manifest{
		SchemaVersion: bundle.SchemaVersion, Main: "index.js", CompatibilityDate: "2026-11-01", CompatibilityFlags: []string{},
		Modules: []bundle.Module{{Name: "index.js", Type: bundle.ESModule, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(helloScript))}},
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return file("manifest.json", string(data)), file("modules/index.js", helloScript)
}

func many(first entry, n int) []entry {
	list := []entry{first}
	for i := range n {
		list = append(list, file("modules/"+strings.Repeat("x", i%100+1)+"/"+strings.Repeat("y", i/100+1), ""))
	}
	return list
}

func tarred(t *testing.T, entries ...entry) []byte {
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

func half(data []byte) []byte { return data[:len(data)/2] }

func gzipWriter(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }

func zstdWriter(w io.Writer) io.WriteCloser {
	enc, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err) // the options are valid
	}
	return enc
}

func gzipped(data []byte) []byte { return compressed(gzipWriter, bytes.NewReader(data)) }
func zstded(data []byte) []byte  { return compressed(zstdWriter, bytes.NewReader(data)) }

func compressed(writer func(io.Writer) io.WriteCloser, data io.Reader) []byte {
	var b bytes.Buffer
	w := writer(&b)
	_, err := io.Copy(w, data)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // writing to memory does not fail
	}
	return b.Bytes()
}

// zeros is a small archive with one large file.
func zeros(t *testing.T, writer func(io.Writer) io.WriteCloser, size int64) []byte {
	t.Helper()
	var head bytes.Buffer
	if err := tar.NewWriter(&head).WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "modules/bomb", Size: size}); err != nil {
		t.Fatal(err)
	}
	return compressed(writer, io.MultiReader(&head, io.LimitReader(zero{}, size)))
}

// tail is a good archive with a long end.
func tail(t *testing.T, manifest, module entry, size int64) []byte {
	t.Helper()
	return compressed(zstdWriter, io.MultiReader(bytes.NewReader(tarred(t, manifest, module)), io.LimitReader(zero{}, size)))
}

type zero struct{}

func (zero) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

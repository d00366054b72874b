package bundle_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestExtractAcceptsOtherWriters(t *testing.T) {
	t.Parallel()
	manifest, module := hello(t)
	dotted := func(e entry) entry { e.header.Name = "./" + e.header.Name; return e }
	dir := func(name string) entry { return entry{tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755}, nil} }
	for _, test := range []struct {
		name string
		data []byte
	}{
		{"zstd", zstdOf(t, tarOf(t, manifest, module))},
		{"gzip", gzipOf(t, tarOf(t, manifest, module))},
		{"manifest last", gzipOf(t, tarOf(t, module, manifest))},
		{"tar of a dot", gzipOf(t, tarOf(t, dir("./"), dotted(manifest), dir("./modules/"), dotted(module)))},
		{"padding", gzipOf(t, append(tarOf(t, manifest, module), make([]byte, 10<<10)...))},
		{"frames", append(zstdOf(t, tarOf(t, manifest, module)[:512]), zstdOf(t, tarOf(t, manifest, module)[512:])...)},
		{"best compression", zstdOf(t, tarOf(t, manifest, module), zstd.WithEncoderLevel(zstd.SpeedBestCompression))},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, m, err := extract(t, test.data, bundle.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(dir, "modules", m.Main))
			if err != nil || string(got) != worker {
				t.Errorf("the module holds %q, %v", got, err)
			}
		})
	}
}

type badCase struct {
	name   string
	data   []byte
	limits bundle.Limits
	code   string
}

func badBundles(t testing.TB) []badCase {
	t.Helper()
	manifest, module := hello(t)
	good, _ := packSample(t)
	with := func(more ...entry) []byte {
		return gzipOf(t, tarOf(t, append([]entry{manifest, module}, more...)...))
	}
	special := func(flag byte, name, link string) []byte {
		return with(entry{tar.Header{Typeflag: flag, Name: name, Linkname: link, Mode: 0o644}, nil})
	}
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 0xff
	plainTar := tarOf(t, manifest, module)
	return []badCase{
		{"empty", nil, bundle.Limits{}, "bundle_truncated"},
		{"two bytes", []byte{0x1f, 0x8b}, bundle.Limits{}, "bundle_truncated"},
		{"cut in half", good[:len(good)/2], bundle.Limits{}, "bundle_truncated"},
		{"last byte missing", good[:len(good)-1], bundle.Limits{}, "bundle_truncated"},
		{"gzip cut", with()[:60], bundle.Limits{}, "bundle_truncated"},
		{"gzip without checksum", with()[:len(with())-8], bundle.Limits{}, "bundle_truncated"},
		{"tar cut", gzipOf(t, plainTar[:600]), bundle.Limits{}, "bundle_truncated"},
		{"flipped bits", flipped, bundle.Limits{}, "bundle_format"},
		{"plain tar", plainTar, bundle.Limits{}, "bundle_format"},
		{"zip", []byte("PK\x03\x04 and so on"), bundle.Limits{}, "bundle_format"},
		{"not a tar", gzipOf(t, bytes.Repeat([]byte("hello"), 1000)), bundle.Limits{}, "bundle_format"},
		{"data after the end", gzipOf(t, append(bytes.Clone(plainTar), plainTar...)), bundle.Limits{}, "bundle_format"},
		{"zeros without end", gzipOf(t, append(bytes.Clone(plainTar), make([]byte, 2<<20)...)), bundle.Limits{}, "bundle_format"},
		{"huge window", hugeWindow(), bundle.Limits{}, "bundle_format"},
		{"no manifest", gzipOf(t, tarOf(t, module)), bundle.Limits{}, "bundle_mismatch"},
		{"no files", gzipOf(t, tarOf(t)), bundle.Limits{}, "bundle_mismatch"},
		{"missing file", gzipOf(t, tarOf(t, manifest)), bundle.Limits{}, "bundle_mismatch"},
		{"unlisted file", with(file("modules/x.js", "x")), bundle.Limits{}, "bundle_mismatch"},
		{"other content", gzipOf(t, tarOf(t, manifest, file("modules/index.js", strings.ToUpper(worker)))), bundle.Limits{}, "bundle_mismatch"},
		{"other size", gzipOf(t, tarOf(t, manifest, file("modules/index.js", "short"))), bundle.Limits{}, "bundle_mismatch"},
		{"absolute", with(file("/etc/passwd", "x")), bundle.Limits{}, "bundle_path"},
		{"leaves", with(file("../x", "x")), bundle.Limits{}, "bundle_path"},
		{"leaves later", with(file("modules/../../x", "x")), bundle.Limits{}, "bundle_path"},
		{"backslash", with(file(`modules\x`, "x")), bundle.Limits{}, "bundle_path"},
		{"newline", with(file("modules/a\nb", "x")), bundle.Limits{}, "bundle_path"},
		{"directory leaves", special(tar.TypeDir, "../x/", ""), bundle.Limits{}, "bundle_path"},
		{"symlink", special(tar.TypeSymlink, "modules/l", "/etc/passwd"), bundle.Limits{}, "bundle_path"},
		{"hard link", special(tar.TypeLink, "modules/l", "modules/index.js"), bundle.Limits{}, "bundle_path"},
		{"device", special(tar.TypeChar, "modules/d", ""), bundle.Limits{}, "bundle_path"},
		{"pipe", special(tar.TypeFifo, "modules/p", ""), bundle.Limits{}, "bundle_path"},
		{"twice", with(module), bundle.Limits{}, "bundle_path"},
		{"two manifests", with(manifest), bundle.Limits{}, "bundle_path"},
		{"below a file", with(file("modules/index.js/x", "x")), bundle.Limits{}, "bundle_path"},
		{"too many files", with(file("modules/x", "x")), bundle.Limits{Files: 2}, "bundle_too_large"},
		{"modules too large", with(), bundle.Limits{Modules: 10}, "bundle_too_large"},
		{"all too large", with(), bundle.Limits{Total: 100}, "bundle_too_large"},
		{"asset too large", with(file("assets/a", "12345")), bundle.Limits{Asset: 4}, "bundle_too_large"},
		{"unknown module type", edited(t, `"esm"`, `"python"`), bundle.Limits{}, "module_type_unknown"},
		{"older format", edited(t, format, `"schema_version": 4`), bundle.Limits{}, "manifest_version"},
		{"newer format", edited(t, format, `"schema_version": 9`), bundle.Limits{}, "manifest_version"},
		{"unknown field", edited(t, `"main"`, `"extra": true, "main"`), bundle.Limits{}, "manifest_invalid"},
		{"bad date", edited(t, `2026-11-01`, `tomorrow`), bundle.Limits{}, "manifest_invalid"},
	}
}

// edited is a small bundle whose manifest has old replaced.
func edited(t testing.TB, old, replacement string) []byte {
	t.Helper()
	manifest, module := hello(t)
	text := strings.Replace(string(manifest.body), old, replacement, 1)
	if text == string(manifest.body) {
		t.Fatalf("%s is not in the manifest", old)
	}
	return gzipOf(t, tarOf(t, file("manifest.json", text), module))
}

// hugeWindow is the start of a zstd frame that asks for 2 GiB of memory.
func hugeWindow() []byte {
	return []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00}
}

func TestExtractRejects(t *testing.T) {
	t.Parallel()
	for _, test := range badBundles(t) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, _, err := extract(t, test.data, test.limits)
			wantCode(t, err, test.code)
			if test.code == "bundle_too_large" != errors.Is(err, svc.TooLarge) {
				t.Errorf("kind of %v", err)
			}
			left, _ := os.ReadDir(filepath.Dir(dir))
			if len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestBombStopsEarly(t *testing.T) {
	t.Parallel()
	manifest, module := hello(t)
	// 1 TiB of zeros by its header; the stream is generated.
	head := tar.Header{Typeflag: tar.TypeReg, Name: "modules/bomb", Size: 1 << 40, Mode: 0o644}
	for _, size := range []int64{1 << 40, 60 << 20} {
		r, w := io.Pipe()
		go func() {
			enc, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
			if err != nil {
				w.CloseWithError(err)
				return
			}
			head := head
			head.Size = size
			tw := tar.NewWriter(enc)
			for i := 0; err == nil; i++ {
				head.Name = "modules/bomb" + strings.Repeat("x", i)
				if err = tw.WriteHeader(&head); err == nil {
					_, err = io.CopyN(tw, repeat(0), size)
				}
			}
			w.CloseWithError(err)
		}()
		_, err := bundle.Check(t.Context(), r, bundle.Limits{})
		wantCode(t, err, "bundle_too_large")
		r.Close()
	}
	// Many headers without content.
	entries := []entry{manifest, module}
	for i := range 300 {
		entries = append(entries, entry{tar.Header{Typeflag: tar.TypeDir, Name: strings.Repeat("d", i%50+1) + "/"}, nil})
	}
	_, err := bundle.Check(t.Context(), bytes.NewReader(gzipOf(t, tarOf(t, entries...))), bundle.Limits{Files: 100})
	wantCode(t, err, "bundle_too_large")
}

func TestCancel(t *testing.T) {
	t.Parallel()
	data, _ := packSample(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bundle.Check(ctx, bytes.NewReader(data), bundle.Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	for _, test := range badBundles(f) {
		if len(test.data) < 4<<10 {
			f.Add(test.data)
		}
	}
	good, _ := packSample(f)
	f.Add(good)
	limits := bundle.Limits{Modules: 1 << 20, Asset: 1 << 20, Total: 2 << 20, Files: 100}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := bundle.Check(t.Context(), bytes.NewReader(data), limits)
		if err != nil {
			if svc.CodeOf(err) == "internal" {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		if err := m.Validate(); err != nil {
			t.Fatalf("accepted with a bad manifest: %v", err)
		}
		if _, _, err := extract(t, data, limits); err != nil {
			t.Fatalf("Check accepts and Extract rejects: %v", err)
		}
	})
}

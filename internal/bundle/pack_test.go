package bundle_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/svcctl/svcctl/internal/bundle"
)

func TestPackAndExtract(t *testing.T) {
	t.Parallel()
	data, packed := packSample(t)
	h := sha256.Sum256(data)
	if want := "sha256:" + hex.EncodeToString(h[:]); packed.Digest != want || packed.Size != int64(len(data)) {
		t.Errorf("Pack reports %s and %d bytes; the object has %s and %d", packed.Digest, packed.Size, want, len(data))
	}
	dir, m, err := extract(t, data, bundle.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(packed.Manifest, m); diff != "" {
		t.Errorf("manifest (-packed +extracted):\n%s", diff)
	}
	loaded, err := bundle.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, loaded); diff != "" {
		t.Errorf("manifest (-extracted +loaded):\n%s", diff)
	}
	_, files := sample(t)
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
		}
	}
}

// TestPackRelease: the settings of releases are read as they were written.
func TestPackRelease(t *testing.T) {
	t.Parallel()
	m, files := sample(t)
	for _, want := range []*bundle.Release{nil, {Check: "/up", AssetsKeep: new(2), Guard: bundle.GuardRefuse}} {
		m.Release = want
		packed, err := bundle.Pack(io.Discard, m, files)
		if err != nil {
			t.Fatal(err)
		}
		data, err := packed.Manifest.Encode()
		if err != nil {
			t.Fatal(err)
		}
		read, err := bundle.Decode(data)
		if err != nil || !cmp.Equal(read.Release, want) || read.Guards() != (want != nil) {
			t.Errorf("wrote %+v, read %+v, %v", want, read.Release, err)
		}
	}
}

func TestPackIsDeterministic(t *testing.T) {
	t.Parallel()
	first, _ := packSample(t)
	for range 5 {
		if again, _ := packSample(t); !bytes.Equal(first, again) {
			t.Fatal("the same input gave different bytes")
		}
	}
	m, files := sample(t)
	files["modules/index.js"] = []byte(worker + " ")
	var b bytes.Buffer
	if _, err := bundle.Pack(&b, m, files); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(first, b.Bytes()) {
		t.Error("different input gave the same bytes")
	}
}

// Both sides allocate a window before the first byte: that of a small bundle is small, and no
// bundle has one of more than 8 MiB.
func TestPackWindow(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]uint64{200 << 10: 256 << 10, 300 << 10: 512 << 10, 9 << 20: 8 << 20} {
		m, files := sample(t)
		files["modules/index.js"] = bytes.Repeat([]byte("x"), size)
		var out bytes.Buffer
		if _, err := bundle.Pack(&out, m, files); err != nil {
			t.Fatal(err)
		}
		var h zstd.Header
		if err := h.Decode(out.Bytes()); err != nil || h.WindowSize != want {
			t.Errorf("a worker of %d bytes: a window of %d bytes, %v, want %d", size, h.WindowSize, err, want)
		}
	}
}

func TestPackRejects(t *testing.T) {
	t.Parallel()
	m, files := sample(t)
	m.Main = "other.js"
	_, err := bundle.Pack(new(bytes.Buffer), m, files)
	wantCode(t, err, "manifest_invalid")

	m, files = sample(t)
	delete(files, "modules/index.js")
	if _, err := bundle.Pack(new(bytes.Buffer), m, files); err == nil || !strings.Contains(err.Error(), "modules/index.js") {
		t.Errorf("a missing file gave %v", err)
	}
	m, files = sample(t)
	if _, err := bundle.Pack(new(bytes.Buffer), m, &changing{Tree: files}); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("a file that changes gave %v", err)
	}
}

// changing is a tree whose files differ from one reading to the next.
type changing struct {
	bundle.Tree
	reads int
}

func (c *changing) Open(name string) (fs.File, error) {
	c.reads++
	data := bytes.Clone(c.Tree[name])
	data[0] = byte(c.reads)
	return bundle.Tree{name: data}.Open(name)
}

func TestExtractReplacesTheDirectory(t *testing.T) {
	t.Parallel()
	data, _ := packSample(t)
	tmp := t.TempDir()
	name, dir := filepath.Join(tmp, "bundle"), filepath.Join(tmp, "out")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "modules"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "modules", "stale.js"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.Extract(t.Context(), name, dir, bundle.Limits{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "modules", "stale.js")); !os.IsNotExist(err) {
		t.Errorf("an old file still exists: %v", err)
	}
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) != 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// schema returns a function that checks a manifest by manifest.schema.json.
func schema(t testing.TB) func(bundle.Manifest) error {
	t.Helper()
	text, err := os.ReadFile("manifest.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("manifest.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("manifest.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(m bundle.Manifest) error {
		data, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(value)
	}
}

func TestSchemaAgrees(t *testing.T) {
	t.Parallel()
	accepts := schema(t)
	_, packed := packSample(t)
	if err := accepts(packed.Manifest); err != nil {
		t.Errorf("the sample does not match the schema: %v", err)
	}
	for _, test := range invalid() {
		if test.schemaPasses {
			continue
		}
		if accepts(test.change(t)) == nil {
			t.Errorf("%s: the schema accepts what Validate rejects", test.name)
		}
	}
}

func TestVarJSON(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`"text"`, `"<&>  "`, `""`, `{"a":[1,null]}`, `12345678901234567890`, `1.0`, `true`, `null`, `[]`} {
		v, err := bundle.JSONVar(json.RawMessage(raw))
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if isText := raw[0] == '"'; isText != (v.Text != nil) {
			t.Errorf("%s: text = %v", raw, v.Text)
		}
		m := map[string]bundle.Var{}
		if err := json.Unmarshal([]byte(`{"k":`+raw+`}`), &m); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(v, m["k"]); diff != "" {
			t.Errorf("%s inside a map:\n%s", raw, diff)
		}
	}
	if _, err := json.Marshal(bundle.Var{}); err == nil {
		t.Error("a variable without a value was written")
	}
	if _, err := bundle.JSONVar(json.RawMessage(`{"a":`)); err == nil {
		t.Error("broken JSON was read")
	}
}

func BenchmarkPack(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20, 16 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			m, files := sample(b)
			files["modules/index.js"] = script(size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			var out bytes.Buffer
			for b.Loop() {
				out.Reset()
				if _, err := bundle.Pack(&out, m, files); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(out.Len())/float64(size), "ratio")
		})
	}
}

func BenchmarkExtract(b *testing.B) {
	data, _ := packSample(b)
	tmp := b.TempDir()
	name := filepath.Join(tmp, "bundle")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := bundle.Extract(b.Context(), name, filepath.Join(tmp, "out"), bundle.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// script is JavaScript that compresses about as well as a bundled app does.
func script(size int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < size {
		fmt.Fprintf(&b, "function f%d(a, b) { return a.get(%q) + b[%d]; }\n", r.IntN(1<<20), fmt.Sprint(r.Uint32()), r.IntN(100))
	}
	return b.Bytes()[:size]
}

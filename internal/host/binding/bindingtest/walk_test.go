package bindingtest_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/all"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestDummySuite is the test that every kind has.
func TestDummySuite(t *testing.T) {
	t.Parallel()
	bindingtest.Run(t, dummy{}, bindingtest.Suite{
		Good:  bundle.Binding{Name: "B", Kind: "dummy", Resource: "one"},
		Other: bundle.Binding{Name: "B", Kind: "dummy", Resource: "two"},
		Bad:   map[string]bundle.Binding{"no resource": {Name: "B", Kind: "dummy"}},
		Write: `await B.fetch("http://d/" + name, { method: "PUT", body: value });`,
		Read:  `const r = await B.fetch("http://d/" + name); return r.ok ? await r.text() : null;`,
		Shape: `if (typeof B.fetch !== "function") throw new Error("no fetch");`,
	})
}

// walker is a worker with a dummy binding.
const walker = `export default {
  async fetch(req, env) { return env.D.fetch("http://d" + new URL(req.url).pathname); },
  async scheduled({ cron }, env) { await env.D.fetch("http://d/event", { method: "PUT", body: cron }); },
}`

// TestWalk takes a kind that the program does not know from its bundle to the end
// of its version, and through every point where a kind takes part. What the test
// does not have to name, no kind has to touch: docs/checklists/add-a-binding.md.
func TestWalk(t *testing.T) {
	t.Parallel()
	kinds := []binding.Kind{dummy{}}
	dir := t.TempDir()
	manifest := load(t, dir)
	if _, err := binding.OpenAll(t.Context(), all.Kinds(), &manifest, nil); svc.AsError(err).Fields[0].Code != svc.CodeBindingUnknownKind {
		t.Errorf("the kinds that are shipped: %v", err)
	}
	volumes := bindingtest.Inherited{Volumes: bindingtest.OpenVolumes(t, t.TempDir())}
	set, err := binding.OpenAll(t.Context(), kinds, &manifest, volumes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	prepares(t, set, &manifest, dir)
	w := bindingtest.Start(t, set, walker)
	for name, want := range map[string]string{"seed": "from the bundle", "migration": "from a migration", "scrub": "of shop/r"} {
		if got := w.Post(t, "/"+name, ""); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	actsByItself(t, set, w)
	isShown(t, set)
}

// load writes a bundle with files for the binding to dir and reads its manifest.
func load(t *testing.T, dir string) bundle.Manifest {
	t.Helper()
	for name, text := range map[string]string{
		"manifest.json": `{ "schema_version": 5, "main": "index.js", "compatibility_date": "2026-11-01", "compatibility_flags": [],
			"modules": [{ "name": "index.js", "type": "esm", "sha256": "` + sum + `", "size": 1 }],
			"bindings": [{ "name": "D", "kind": "dummy", "resource": "r" }],
			"seeds": [{ "binding": "D", "files": [{ "path": "seed/D.txt", "sha256": "` + sum + `", "size": 1 }] }],
			"migrations": [{ "binding": "D", "table": "done", "files": [{ "path": "migrations/D/1.sql", "sha256": "` + sum + `", "size": 1 }] }] }`,
		"seed/D.txt":         "from the bundle",
		"migrations/D/1.sql": "INSERT INTO dummy VALUES ('r', 'migration', 'from a migration')",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	manifest, err := bundle.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return manifest
}

// sum stands for the digests of files, which the daemon has compared.
const sum = "0000000000000000000000000000000000000000000000000000000000000000"

// prepares is the step preparing, twice.
func prepares(t *testing.T, set *binding.Set, m *bundle.Manifest, dir string) {
	t.Helper()
	files, scrub := os.DirFS(dir), svc.Scrub{ID: "1", SQL: "-- database: shop/r\nINSERT INTO dummy VALUES ('r', 'scrub', 'of shop/r')"}
	for i := range 2 {
		if err := set.Scrub(t.Context(), "shop", scrub); err != nil {
			t.Fatal(err)
		}
		imported, err := set.Seed(t.Context(), m, files)
		if err != nil || len(imported) != 1-i {
			t.Errorf("pass %d imported %v, %v", i, imported, err)
		}
		applied, err := set.Migrate(t.Context(), m, files)
		if err != nil || len(applied) != 1-i {
			t.Errorf("pass %d applied %v, %v", i, applied, err)
		}
	}
}

// actsByItself: once it is armed, the kind sends the worker an event.
func actsByItself(t *testing.T, set *binding.Set, w *bindingtest.Worker) {
	t.Helper()
	if !set.CallsWorker() {
		t.Error("it does not call the worker")
	}
	if err := set.Start(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if stored := shown(t, set, "/dummy/D"); len(stored) != 3 {
		t.Errorf("it acts before it is armed: %v", stored)
	}
	if err := set.Arm(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	svctest.Eventually(t, "the end of the event", func() bool { return shown(t, set, "/dummy/D")["outcome"] != nil })
	set.Stop(t.Context())
	if wake := set.Wake(); wake.Pending != 0 || !wake.At.Equal(time.Unix(1, 0)) {
		t.Errorf("wakes %+v", wake)
	}
	for name, want := range map[string]string{"event": "of r", "outcome": "ok <nil>"} {
		if got := w.Post(t, "/"+name, ""); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// isShown asks what the API asks.
func isShown(t *testing.T, set *binding.Set) {
	t.Helper()
	if want := []string{"GET /bindings", "GET /dummy/{binding}"}; !slices.Equal(binding.Patterns([]binding.Kind{dummy{}}), want) {
		t.Errorf("the API serves %v", binding.Patterns([]binding.Kind{dummy{}}))
	}
	want := map[string]any{"items": []any{map[string]any{
		"name": "D", "kind": "dummy", "resource": "r", "branched": true, "parent_version_id": "v1", "fork_txid": "1", "stats": map[string]any{"names": 5.0},
	}}}
	if diff := cmp.Diff(want, shown(t, set, "/bindings")); diff != "" {
		t.Error(diff)
	}
	if stored := shown(t, set, "/dummy/"); len(stored) != 0 {
		t.Errorf("a path that is none: %v", stored)
	}
}

// shown is the JSON at a path of the version's data.
func shown(t *testing.T, set *binding.Set, path string) (got map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	data := set.Data(func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, "{}", http.StatusNotFound)
		t.Log(err)
	})
	data.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return got
}

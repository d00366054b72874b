package build_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

type files map[string]string

// wasm42 exports answer(), which returns 42.
const wasm42 = "\x00asm\x01\x00\x00\x00\x01\x05\x01\x60\x00\x01\x7f\x03\x02\x01\x00\x07\x0a\x01\x06answer\x00\x00\x0a\x06\x01\x04\x00\x41\x2a\x0b"

// guestbook is a project with everything that this program runs. Its date is
// from before fs was native, and its build command makes one of its modules.
func guestbook() files {
	return files{
		"wrangler.jsonc": `{
  "name": "guestbook", "main": "src/index.ts",
  "compatibility_date": "2025-01-01", "compatibility_flags": ["nodejs_compat"],
  "build": { "command": "make-version > src/version.txt && echo built" },
  "vars": { "GREETING": "hello", "FLAGS": { "beta": true } },
  "kv_namespaces": [{ "binding": "CACHE" }, { "binding": "OLD", "id": "abc" }],
  "d1_databases": [{ "binding": "DB", "database_name": "guests", "database_id": "1" }, { "binding": "COPY", "database_name": "guests", "database_id": "1" }],
  "r2_buckets": [{ "binding": "FILES", "bucket_name": "pictures" }],
  "version_metadata": { "binding": "VERSION" },
  "observability": { "enabled": true },
}`,
		"node_modules/.bin/make-version":   "#!/bin/sh\nprintf v1",
		"node_modules/polite/package.json": `{"name": "polite", "main": "index.js"}`,
		"node_modules/polite/index.js":     `const fs = require("fs"); exports.please = (s) => s + ", please" + (typeof fs.readFileSync === "function" ? "" : "?");`,
		"migrations/0002_more.sql":         "create table more (a);",
		"migrations/0001_init.sql":         "create table guests (name text);",
		"migrations/README.md":             "not a migration",
		"seed/DB.sql":                      "create table guests (name text);",
		"seed/CACHE.jsonl":                 `{"key":"a","value":"b"}`,
		"seed/FILES/a/b.txt":               "a picture",
		"src/answer.wasm":                  wasm42,
		"src/data.bin":                     "\x01\x02\x03",
		"src/index.ts": `
import { please } from "polite";
import version from "./version.txt";
import data from "./data.bin";
import wasm from "./answer.wasm";
interface Env { GREETING: string; FLAGS: { beta: boolean } }
export default {
  async fetch(_: Request, env: Env): Promise<Response> {
    const instance = await WebAssembly.instantiate(wasm as WebAssembly.Module);
    return Response.json({
      text: please(env.GREETING), beta: env.FLAGS.beta, version,
      bytes: [...new Uint8Array(data as ArrayBuffer)], answer: (instance.exports.answer as () => number)(),
    });
  },
};`,
	}
}

func TestBundle(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, guestbook())
	var stages []string
	var output bytes.Buffer
	r, err := build.Bundle(t.Context(), build.Request{
		Dir: filepath.Join(dir, "src"), TempDir: t.TempDir(), Output: &output,
		Stage: func(s string) { stages = append(stages, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"build command", "bundling", "packing"}, stages); diff != "" {
		t.Errorf("stages:\n%s", diff)
	}
	if output.String() != "built\n" || r.Project != "guestbook" || len(r.Notices) != 1 {
		t.Errorf("output %q, project %q, notices %v", output.String(), r.Project, r.Notices)
	}
	for _, want := range []string{"wrangler.jsonc", "src", "migrations", "seed", "src/index.ts", "src/data.bin", "node_modules/polite/index.js"} {
		if !slices.Contains(r.Watch, filepath.Join(dir, want)) {
			t.Errorf("watch lacks %s: %v", want, r.Watch)
		}
	}
	unpacked := filepath.Join(t.TempDir(), "bundle")
	m, err := bundle.Extract(t.Context(), r.File, unpacked, bundle.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Manifest, m); diff != "" {
		t.Errorf("manifest (-reported +packed):\n%s", diff)
	}
	checkManifest(t, m)
	got := answer(t, m, unpacked)
	want := map[string]any{"text": "hello, please", "beta": true, "version": "v1", "bytes": []any{1.0, 2.0, 3.0}, "answer": 42.0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the worker answers (-want +got):\n%s", diff)
	}
	r.Remove()
	if _, err := os.Stat(r.File); !os.IsNotExist(err) {
		t.Errorf("the bundle is still there: %v", err)
	}
}

func checkManifest(t *testing.T, m bundle.Manifest) {
	t.Helper()
	if diff := cmp.Diff([]bundle.Binding{
		{Name: "CACHE", Kind: "kv", Resource: "CACHE"},
		{Name: "OLD", Kind: "kv", Resource: "abc"},
		{Name: "DB", Kind: "database", Resource: "guests"},
		{Name: "COPY", Kind: "database", Resource: "guests"},
		{Name: "FILES", Kind: "object_store", Resource: "pictures"},
		{Name: "VERSION", Kind: "version_metadata"},
	}, m.Bindings); diff != "" {
		t.Errorf("bindings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bundle.Var{
		"GREETING": bundle.TextVar("hello"), "FLAGS": {JSON: json.RawMessage(`{"beta":true}`)},
	}, m.Vars); diff != "" {
		t.Errorf("vars (-want +got):\n%s", diff)
	}
	var migrations []string
	for _, mig := range m.Migrations {
		for _, f := range mig.Files {
			migrations = append(migrations, mig.Table+" "+f.Path)
		}
	}
	if diff := cmp.Diff([]string{"d1_migrations migrations/DB/0001_init.sql", "d1_migrations migrations/DB/0002_more.sql"}, migrations); diff != "" {
		t.Errorf("migrations (-want +got):\n%s", diff)
	}
	var seeds []string
	for _, s := range m.Seeds {
		for _, f := range s.Files {
			seeds = append(seeds, fmt.Sprint(s.Binding, " ", f.Path, " ", f.Size))
		}
	}
	if diff := cmp.Diff([]string{"CACHE seed/CACHE.jsonl 23", "DB seed/DB.sql 32", "FILES seed/FILES/a/b.txt 9"}, seeds); diff != "" {
		t.Errorf("seeds (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"nodejs_compat", "enable_nodejs_process_v2", "enable_nodejs_fs_module"}, m.CompatibilityFlags); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	if m.Main != "index.js" || len(m.Modules) != 4 || len(m.SourceMaps) != 1 || m.SourceMaps[0].Path != "sourcemaps/index.js.map" {
		t.Errorf("modules %v, maps %v", m.Modules, m.SourceMaps)
	}
}

func TestDigestIsDeterministic(t *testing.T) {
	t.Parallel()
	digest := func(change func(files)) string {
		f := guestbook()
		change(f)
		r, err := build.Bundle(t.Context(), build.Request{Dir: svctest.Files(t, f), TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		return r.Digest
	}
	first := digest(func(files) {})
	if again := digest(func(files) {}); again != first {
		t.Errorf("the same sources in another directory: %s and %s", first, again)
	}
	if other := digest(func(f files) { f["src/data.bin"] = "\x01\x02\x04" }); other == first {
		t.Error("other sources have the same digest")
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	const head = `{"name": "w", "main": "src/index.ts", "compatibility_date": "2026-11-01"`
	for _, test := range []struct {
		name  string
		files files
		code  string
		want  string
	}{
		{"no project", files{"x": ""}, "config_not_found", "no wrangler.jsonc"},
		{"not supported", files{"wrangler.json": head + `, "mtls_certificates": [{"binding": "C"}]}`}, "config_unsupported", "wrangler.json:1:"},
		{"no name", files{"wrangler.json": `{"main": "w.js", "compatibility_date": "2026-11-01"}`}, "project_unnamed", "--project"},
		{"no entry", files{"wrangler.json": head + `}`}, "entry_missing", "main names src/index.ts, which does not exist"},
		{"entry is a directory", files{"wrangler.json": head + `}`, "src/index.ts/x": ""}, "entry_missing", "which is not a file"},
		{"entry not built", files{"wrangler.json": head + `, "build": {"command": "true"}}`}, "entry_missing", "which does not exist after the build command"},
		{"build fails", files{"wrangler.json": head + `, "build": {"command": "echo broken; exit 3"}}`}, "build_command_failed", `"echo broken; exit 3" ended with exit status 3`},
		{"build elsewhere", files{"wrangler.json": head + `, "build": {"command": "true", "cwd": "gone"}}`}, "build_command_failed", "could not be run"},
		{"does not bundle", files{"wrangler.json": head + `}`, "src/index.ts": "import 'gone'; export default {}"}, "build_failed", `src/index.ts:1:8: Could not resolve "gone"`},
		{"seed of nothing", files{"wrangler.json": head + `}`, "src/index.ts": "export default {}", "seed/DB.sql": ""}, "seed_invalid", `no binding is called "DB"`},
		{"bad date", files{"wrangler.json": strings.ReplaceAll(head, "2026-11-01", "today") + `}`, "src/index.ts": "export default {}"}, "config_invalid", `compatibility_date is "today", which is no date`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tmp := t.TempDir()
			_, err := build.Bundle(t.Context(), build.Request{Dir: svctest.Files(t, test.files), TempDir: tmp})
			if svc.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %s: %v\nwant %s: %s", svc.CodeOf(err), err, test.code, test.want)
			}
			if left, _ := os.ReadDir(tmp); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestMigrationsOfTwoDatabases(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, files{
		"wrangler.json": `{"name": "w", "main": "w.js", "compatibility_date": "2026-11-01", "d1_databases": [
			{"binding": "A", "database_name": "a", "migrations_dir": "a"}, {"binding": "B", "migrations_dir": "b", "migrations_pattern": "b/*/migration.sql", "migrations_table": "done"},
			{"binding": "C", "migrations_dir": "c"}]}`,
		"w.js": "export default {}", "a/1.sql": "a", "b/2_x/migration.sql": "b", "b/10_y/migration.sql": "b",
	})
	r, err := build.Bundle(t.Context(), build.Request{Dir: dir, TempDir: t.TempDir(), Project: "other"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range r.Manifest.Migrations {
		for _, f := range m.Files {
			got = append(got, m.Table+" "+f.Path)
		}
	}
	want := []string{"d1_migrations migrations/A/1.sql", "done migrations/B/2_x/migration.sql", "done migrations/B/10_y/migration.sql"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Project != "other" || len(r.Notices) != 1 || !strings.Contains(r.Notices[0].String(), "does not exist") {
		t.Errorf("project %q, notices %v", r.Project, r.Notices)
	}
}

func TestTooLargeForMostServers(t *testing.T) {
	t.Parallel()
	for size, notices := range map[int64]int{bundle.DefaultTotalBytes: 0, bundle.DefaultTotalBytes + 1: 1} {
		r := &build.Result{Manifest: bundle.Manifest{Seeds: []bundle.Seeds{{Files: []bundle.File{{Path: "seed/DB.sql", Size: size}}}}}}
		if r.TellSize(); len(r.Notices) != notices {
			t.Errorf("%d bytes: %v", size, r.Notices)
		}
	}
}

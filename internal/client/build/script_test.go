package build_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// script is a worker in service-worker format. It is sloppy code, as such scripts may be.
func script() files {
	return files{
		"wrangler.jsonc": `{ "name": "old", "main": "src/index.js", "compatibility_date": "2026-11-01", "vars": { "GREETING": "hello", "FLAGS": { "beta": true } } }`,
		"src/index.js": `import text from "./text.txt"; import bytes from "./data.bin"; import wasm from "./answer.wasm"; import { twice } from "./lib.js";
import { Buffer } from "node:buffer";
addEventListener("fetch", (event) => event.respondWith(answer(event.request)));
async function answer(request) {
  const { exports } = await WebAssembly.instantiate(wasm);
  return Response.json({ text, bytes: [...new Uint8Array(bytes)], answer: exports.answer(), twice: twice(GREETING), beta: FLAGS.beta,
    sloppy: (function () { return typeof this; })(), buffer: Buffer.from("a").toString("hex"), path: new URL(request.url).pathname });
}`,
		"src/lib.js": `export const twice = (s) => s + s;`, "src/text.txt": "text", "src/data.bin": "\x01\x02", "src/answer.wasm": wasm42,
	}
}

func TestServiceWorker(t *testing.T) {
	t.Parallel()
	want := map[string]any{
		"text": "text", "bytes": []any{1.0, 2.0}, "answer": 42.0, "twice": "hellohello", "beta": true, "sloppy": "object", "buffer": "61", "path": "/",
	}
	for name, config := range map[string]string{"bundled": "", "with rules": `, "find_additional_modules": true, "base_dir": "src", "rules": [{ "type": "ESModule", "globs": ["**/*.js"] }]`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := maps.Clone(script())
			f["wrangler.jsonc"] = strings.TrimSuffix(f["wrangler.jsonc"], " }") + config + " }"
			m, dir := bundled(t, f)
			if m.Modules[0].Type != bundle.Script {
				t.Fatalf("%+v", m.Modules)
			}
			if diff := cmp.Diff(want, answer(t, m, dir)); diff != "" {
				t.Errorf("the worker answers (-want +got):\n%s", diff)
			}
		})
	}
}

// With no_bundle, the file is the script.
func TestServiceWorkerAsIs(t *testing.T) {
	t.Parallel()
	m, dir := bundled(t, files{
		"wrangler.jsonc": `{ "name": "old", "main": "index.js", "compatibility_date": "2020-01-01", "no_bundle": true, "vars": { "A": "1" } }`,
		"index.js":       `undeclared = A; addEventListener("fetch", (e) => { e.respondWith(new Response(JSON.stringify({ a: undeclared }))); });`,
	})
	if diff := cmp.Diff(map[string]any{"a": "1"}, answer(t, m, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// bundled bundles a project and unpacks it.
func bundled(t *testing.T, f files) (bundle.Manifest, string) {
	t.Helper()
	r, err := build.Bundle(t.Context(), build.Request{Dir: svctest.Files(t, f), TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "bundle")
	m, err := bundle.Extract(t.Context(), r.File, dir, bundle.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return m, dir
}

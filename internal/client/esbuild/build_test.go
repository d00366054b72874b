package esbuild_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/esbuild"
)

// rich is a worker with everything that can be imported.
func rich() files {
	return files{
		"tsconfig.json": `{"compilerOptions": {"paths": {"@/*": ["./src/*"]}, "jsx": "react-jsx", "jsxImportSource": "tiny-jsx"}}`,
		"src/index.ts": `
import { greet } from "@/greet";
import { Page } from "./page";
import pkg from "kitchen";
import legacy from "legacy";
import text from "./words.txt";
import page from "./page.html";
import again from "../src/words.txt";
import bytes from "./bytes.bin";
import wasm from "./answer.wasm";
import query from "./answer.wasm?module";
import settings from "./settings.json";
import fromPackage from "kitchen/recipe.txt";
import { join } from "node:path";
import { env } from "cloudflare:workers";
import type { Nothing } from "./only-a-type";
export default {
  async fetch(): Promise<Response> {
    const run = async (w: WebAssembly.Module) => ((await WebAssembly.instantiate(w)) as any).exports.answer();
    return Response.json({
      greet: greet("world"), page: Page(), condition: pkg.condition, legacy: legacy(),
      text, html: page, same: text === again, bytes: new Uint8Array(bytes as any).length,
      wasm: await run(wasm as any), query: await run(query as any), settings, fromPackage,
      join: join("a", "..", "b"), env: typeof env, mode: process.env.NODE_ENV,
      lazy: (await import("./lazy")).default,
    });
  },
};`,
		"src/greet.ts":                         `export const greet = (who: string): string => "hello " + who;`,
		"src/page.tsx":                         `export const Page = () => <p>{"x"}</p>;`,
		"src/lazy.ts":                          `export default "loaded";`,
		"src/words.txt":                        "words",
		"src/page.html":                        "<p>hi</p>",
		"src/bytes.bin":                        "\x00\x01\x02",
		"src/answer.wasm":                      wasm42,
		"src/settings.json":                    `{"n": 1}`,
		"node_modules/tiny-jsx/package.json":   `{"name": "tiny-jsx", "exports": {"./jsx-runtime": "./jsx.js"}}`,
		"node_modules/tiny-jsx/jsx.js":         `export const jsx = (type, props) => "<" + type + ">" + props.children; export const jsxs = jsx;`,
		"node_modules/kitchen/package.json":    `{"name": "kitchen", "exports": {"./recipe.txt": "./data/recipe.txt", ".": {"node": "./node.js", "workerd": "./workerd.js", "default": "./other.js"}}}`,
		"node_modules/kitchen/data/recipe.txt": "soup",
		"node_modules/kitchen/workerd.js":      `export default { condition: "workerd" };`,
		"node_modules/kitchen/node.js":         `export default { condition: "node" };`,
		"node_modules/kitchen/other.js":        `export default { condition: "other" };`,
		"node_modules/legacy/package.json":     `{"name": "legacy", "main": "index.js"}`,
		"node_modules/legacy/index.js": `
const { EventEmitter } = require("events");
const util = require("util");
let missing = "found";
try { require("test"); } catch (e) { missing = e.message.slice(0, 11); }
const name = ["pa", "th"].join("");
module.exports = () => ({ format: util.format("%s!", "ok"), emitter: typeof new EventEmitter().on, dynamic: typeof require(name).join, text: require("./note.txt") });`,
		"node_modules/legacy/note.txt": "note",
	}
}

func TestBuildRuns(t *testing.T) {
	t.Parallel()
	f := rich()
	// "test" is no builtin without its prefix, so it must be a package.
	f["node_modules/test/package.json"] = `{"name": "test", "main": "index.js"}`
	f["node_modules/test/index.js"] = `throw new Error("not for you")`
	for _, minify := range []bool{false, true} {
		req := project(t, f)
		req.Minify = minify
		r := build(t, req)
		got := answer(t, req, r)
		want := map[string]any{
			"greet": "hello world", "page": "<p>x", "condition": "workerd",
			"legacy": map[string]any{"format": "ok!", "emitter": "function", "dynamic": "function", "text": "note"},
			"text":   "words", "html": "<p>hi</p>", "same": true, "bytes": 3.0, "wasm": 42.0, "query": 42.0,
			"settings": map[string]any{"n": 1.0}, "fromPackage": "soup", "join": "b", "env": "object", "mode": "production", "lazy": "loaded",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("minify=%v (-want +got):\n%s", minify, diff)
		}
		if len(r.Flags) != 0 {
			t.Errorf("flags %v for a new date", r.Flags)
		}
		if r.Main != "index.js" || r.Modules[0].Name != "index.js" || len(r.Modules) != 7 {
			t.Errorf("modules %v", names(r))
		}
		for _, input := range []string{"src/index.ts", "src/words.txt", "node_modules/kitchen/workerd.js"} {
			if !slices.Contains(r.Inputs, filepath.Join(req.Dir, input)) {
				t.Errorf("inputs lack %s: %v", input, r.Inputs)
			}
		}
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	t.Parallel()
	f := rich()
	f["node_modules/test/index.js"] = ``
	first := build(t, project(t, f))
	for range 3 {
		again := build(t, project(t, f)) // in another directory
		again.Inputs = first.Inputs
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatalf("another result:\n%s", diff)
		}
	}
}

func TestSourceMap(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"plain":   `export default { fetch() { return new Response("x") } }`,
		"require": `const n: string = "fs"; export default { fetch() { return require(n) } }`,
	} {
		r := build(t, project(t, files{"src/index.ts": code}))
		var m struct {
			Sources        []string `json:"sources"`
			SourcesContent []string `json:"sourcesContent"`
			Mappings       string   `json:"mappings"`
		}
		if err := json.Unmarshal(r.Modules[0].SourceMap, &m); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"src/index.ts"}, m.Sources); diff != "" || m.SourcesContent[0] != code {
			t.Errorf("%s: sources %s", name, diff)
		}
		// As many lines are mapped as there are before the first line of code.
		before := bytes.Count(r.Modules[0].Content[:bytes.Index(r.Modules[0].Content, []byte("// src/index.ts"))], []byte("\n")) + 1
		if lead := len(m.Mappings) - len(strings.TrimLeft(m.Mappings, ";")); lead != before {
			t.Errorf("%s: mappings skip %d lines of %d", name, lead, before)
		}
		if bytes.Contains(r.Modules[0].Content, []byte("sourceMappingURL")) {
			t.Errorf("%s: the module points at a map", name)
		}
	}
	req := project(t, files{"src/index.ts": `export default {}`})
	req.SourceMaps = false
	if r := build(t, req); r.Modules[0].SourceMap != nil {
		t.Error("an unwanted source map")
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	req := project(t, files{
		"src/index.tsx": `
import value from "swapped";
import { sep } from "own-path";
/** @jsx h */
const h = (tag: string) => tag, Frag = 1;
export default { async fetch() { return Response.json({ value, sep, define: DEBUG, jsx: <b/>, name: (function longName() {}).name }) } }`,
		"src/other.ts": `export default "other"`,
		"data/note.md": "# note",
	})
	req.Alias = map[string]string{"swapped": "./src/other.ts", "own-path": "node:path"}
	req.Define = map[string]string{"DEBUG": `"yes"`}
	req.JSXFactory, req.JSXFragment = "h", "Frag"
	req.Minify = true
	got := answer(t, req, build(t, req))
	want := map[string]any{"value": "other", "sep": "/", "define": "yes", "jsx": "b", "name": "longName"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	f := files{
		"src/index.ts": `import md from "../data/note.md"; import html from "./p.html"; export default { fetch: () => Response.json({ md, html }) }`,
		"data/note.md": "# note", "src/p.html": "<p>",
	}
	req := project(t, f)
	if _, err := once(t.Context(), req); err == nil || !strings.Contains(err.Error(), "add a rule") {
		t.Errorf("without a rule: %v", err)
	}
	req.Rules = []esbuild.Rule{{Type: bundle.Text, Globs: []string{"**/*.md"}}}
	if _, err := once(t.Context(), req); err == nil || !strings.Contains(err.Error(), "out of force") {
		t.Errorf("without fallthrough: %v", err)
	}
	req.Rules[0].Fallthrough = true
	r := build(t, req)
	if diff := cmp.Diff(map[string]any{"md": "# note", "html": "<p>"}, answer(t, req, r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	req.PreserveNames, req.BaseDir = true, req.Dir
	if diff := cmp.Diff([]string{"index.js", "data/note.md", "src/p.html"}, names(build(t, req))); diff != "" {
		t.Errorf("preserved names (-want +got):\n%s", diff)
	}
}

func TestFindAdditional(t *testing.T) {
	t.Parallel()
	req := project(t, files{
		"src/index.ts": `
import { lang } from "./lang.ts";
import fixed from "./texts/en.js";
export default { async fetch() {
  const name = "./texts/" + lang + ".js";
  return Response.json({ dynamic: (await import(name)).default, fixed: fixed, wasm: typeof (await import("./texts/a.wasm")).default });
} }`,
		"src/lang.ts": `export const lang: string = "de"`, "src/texts/en.js": `export default "hello"`, "src/texts/de.js": `import d from "./deep.js"; export default d`,
		"src/texts/deep.js": `export default "hallo"`, "src/texts/a.wasm": wasm42, "src/node_modules/x/x.js": `broken(`,
	})
	req.FindAdditional = true
	req.Rules = []esbuild.Rule{{Type: bundle.ESModule, Globs: []string{"texts/**/*.js"}}}
	r := build(t, req)
	if diff := cmp.Diff([]string{"index.js", "texts/a.wasm", "texts/de.js", "texts/deep.js", "texts/en.js"}, names(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"dynamic": "hallo", "fixed": "hello", "wasm": "object"}, answer(t, req, r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The entry module keeps its place below a base directory further up.
	req.BaseDir = req.Dir
	req.Rules[0].Globs = []string{"src/texts/*.js"}
	r = build(t, req)
	if r.Main != "src/index.js" {
		t.Errorf("modules %v", names(r))
	}
	if diff := cmp.Diff(map[string]any{"dynamic": "hallo", "fixed": "hello", "wasm": "object"}, answer(t, req, r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNoBundle(t *testing.T) {
	t.Parallel()
	f := files{
		"src/index.js": "import { a } from './lib/a.js'; import t from './t.txt'; import fs from 'node:fs';\n" +
			"export default { fetch: () => Response.json({ a, t, fs: typeof fs.readFileSync }) }\n//# sourceMappingURL=index.js.map\n",
		"src/index.js.map": `{"version":3,"sources":["index.ts"],"mappings":"AAAA","names":[]}`,
		"src/lib/a.js":     `import b from '../b.cjs'; export const a = b.b`, "src/b.cjs": `exports.b = 7`, "src/t.txt": "text",
	}
	req := project(t, f)
	req.NoBundle, req.FindAdditional, req.CompatibilityDate, req.CompatibilityFlags = true, true, "2025-01-01", []string{"nodejs_compat"}
	if _, err := once(t.Context(), req); err == nil || !strings.Contains(err.Error(), `src/index.js imports "./lib/a.js", which is not among the modules`) {
		t.Errorf("without rules: %v", err)
	}
	req.Rules = []esbuild.Rule{{Type: bundle.ESModule, Globs: []string{"**/*.js"}}, {Type: bundle.CommonJS, Globs: []string{"**/*.cjs"}}}
	r := build(t, req)
	if string(r.Modules[0].Content) != f["src/index.js"] || string(r.Modules[0].SourceMap) != f["src/index.js.map"] {
		t.Error("the entry module was changed")
	}
	if diff := cmp.Diff(map[string]any{"a": 7.0, "t": "text", "fs": "function"}, answer(t, req, r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Two modules whose names differ in their ends alone.
	req = project(t, files{
		"src/index.js": `import a from "./a.js"; import b from "./a.cjs"; export default { fetch: () => Response.json({ a, b: b.b }) }`,
		"src/a.js":     `export default 1`, "src/a.cjs": `exports.b = 2`,
	})
	req.NoBundle, req.FindAdditional = true, true
	req.Rules = []esbuild.Rule{{Type: bundle.ESModule, Globs: []string{"**/*.js"}}, {Type: bundle.CommonJS, Globs: []string{"**/*.cjs"}}}
	if diff := cmp.Diff(map[string]any{"a": 1.0, "b": 2.0}, answer(t, req, build(t, req))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	req = project(t, files{"src/index.ts": `export default {}`})
	req.NoBundle = true
	if _, err := once(t.Context(), req); err == nil || !strings.Contains(err.Error(), "is not JavaScript") {
		t.Errorf("TypeScript: %v", err)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := once(ctx, project(t, files{"src/index.ts": `export default {}`})); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkBuild(b *testing.B) {
	f := rich()
	f["node_modules/test/index.js"] = ``
	req := project(b, f)
	for b.Loop() {
		build(b, req)
	}
}

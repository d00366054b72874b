package esbuild_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/client/esbuild"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestFailures(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		files files
		flags string
		date  string
		want  []string
	}{
		{"syntax", files{"src/index.ts": "const a = 1;\nexport default { fetch( }"}, "", "", []string{
			"src/index.ts:2:25: Expected identifier but found \"}\"\n    2 | export default { fetch( }\n      |                         ~",
		}},
		{"package", files{"src/index.ts": "\timport { Hono } from \"hono\";\nexport default new Hono()"}, "", "", []string{
			"src/index.ts:1:23: Could not resolve \"hono\"\n    1 | \timport { Hono } from \"hono\";\n      | \t                     ~~~~~~", "npm install",
		}},
		{"module of a framework", files{"src/index.ts": "import x from 'virtual:app/server'; export default x"}, "", "", []string{"virtual:app/server", "npm run build"}},
		{"file", files{"src/index.ts": "import './nowhere'; export default {}"}, "", "", []string{`src/index.ts:1:8: Could not resolve "./nowhere"`}},
		{"two", files{"src/index.ts": "import './a'; import './b'; export default {}"}, "", "", []string{`"./a"`, `"./b"`}},
		{"bare builtin", files{"src/index.ts": "import fs from 'fs'; export default fs"}, "", "2026-01-01", []string{`Could not resolve "fs"`, "nodejs_compat"}},
		{"builtin turned off", files{"src/index.ts": "import fs from 'fs'; export default fs"}, "no_nodejs_compat no_nodejs_compat_v2", "2026-11-01", []string{`Could not resolve "fs"`}},
		{"bare builtin in v1", files{"src/index.ts": "import p from 'path'; export default p"}, "nodejs_compat", "2024-01-01", []string{`Could not resolve "path"`, "2024-09-23"}},
		{"no handlers", files{"src/index.ts": "console.log('ready')"}, "", "", []string{"src/index.ts exports nothing", "export default"}},
		{"tsconfig", files{"src/index.ts": "export default {}", "tsconfig.json": `{"extends": "./missing.json"}`}, "", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			req := project(t, test.files)
			req.CompatibilityFlags = strings.Fields(test.flags)
			if test.date != "" {
				req.CompatibilityDate = test.date
			}
			r, err := once(t.Context(), req)
			if test.want == nil {
				if err != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "tsconfig.json:1:13") {
					t.Errorf("got %v, %q", err, r.Warnings)
				}
				return
			}
			if svc.CodeOf(err) != "build_failed" || !errors.Is(err, svc.Unprocessable) {
				t.Fatalf("got %v", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got\n%v\nwhich lacks\n%s", err, want)
				}
			}
		})
	}
}

func TestNodeModulesByDate(t *testing.T) {
	t.Parallel()
	const code = `
import fs from "fs";
import { createServer } from "node:http";
import { performance } from "perf_hooks";
import console from "node:console";
export default { fetch: () => Response.json({ fs: typeof fs.readFileSync, http: typeof createServer, perf: typeof performance.now, console: typeof console.log, platform: typeof process.platform }) }`
	want := map[string]any{"fs": "function", "http": "function", "perf": "function", "console": "function", "platform": "string"}
	for _, test := range []struct {
		date, flags string
		add         []string
	}{
		{"2026-11-01", "", nil},
		{"2026-08-04", "", nil},
		{"2026-03-17", "nodejs_compat", nil},
		{"2025-10-01", "nodejs_compat", []string{"enable_nodejs_perf_hooks_module"}},
		{"2024-09-23", "nodejs_compat", []string{
			"enable_nodejs_process_v2", "enable_nodejs_http_modules", "enable_nodejs_http_server_modules",
			"enable_nodejs_fs_module", "enable_nodejs_console_module", "enable_nodejs_perf_hooks_module",
		}},
		{"2024-01-01", "nodejs_compat nodejs_compat_v2 enable_nodejs_fs_module", []string{
			"enable_nodejs_process_v2", "enable_nodejs_http_modules", "enable_nodejs_http_server_modules",
			"enable_nodejs_console_module", "enable_nodejs_perf_hooks_module",
		}},
	} {
		t.Run(test.date, func(t *testing.T) {
			t.Parallel()
			req := project(t, files{"src/index.ts": code})
			req.CompatibilityDate, req.CompatibilityFlags = test.date, strings.Fields(test.flags)
			r := build(t, req)
			if diff := cmp.Diff(test.add, r.Flags); diff != "" {
				t.Errorf("flags (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, answer(t, req, r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Every module of the table exists in workerd at the oldest date with the flags
// that are added for it, imported and required.
func TestEveryNodeModule(t *testing.T) {
	t.Parallel()
	code := "const got: Record<string, boolean> = {};\n"
	for i, name := range esbuild.NodeModules() {
		n := string(rune('a'+i/26)) + string(rune('a'+i%26))
		code += "import * as " + n + " from \"" + name + "\"; got[\"" + name + "\"] = typeof " + n + " === \"object\" && require(\"" + name + "\") !== undefined;\n"
	}
	req := project(t, files{"src/index.ts": code + `export default { fetch: () => Response.json(got) }`})
	req.CompatibilityDate, req.CompatibilityFlags = "2024-09-23", []string{"nodejs_compat"}
	r := build(t, req)
	got := answer(t, req, r)
	for _, name := range esbuild.NodeModules() {
		if got[name] != true {
			t.Errorf("%s: %v", name, got[name])
		}
	}
	if len(r.Flags) != 23 {
		t.Errorf("%d flags: %v", len(r.Flags), r.Flags)
	}
}

func TestWithoutNode(t *testing.T) {
	t.Parallel()
	// npm packages of a builtin's name are used, and code that only asks is kept.
	req := project(t, files{
		"src/index.ts": `import buffer from "buffer"; import { x } from "lib";
export default { async fetch() { let node = "none"; try { await import("node:fs"); node = "some" } catch {} return Response.json({ buffer, node, x }) } }`,
		"node_modules/buffer/index.js":     `module.exports = "from npm"`,
		"node_modules/lib/package.json":    `{"main": "index.js", "browser": {"fs": false}}`,
		"node_modules/lib/index.js":        `exports.x = typeof require("fs")`,
		"node_modules/buffer/package.json": `{"main": "index.js"}`,
	})
	req.CompatibilityDate = "2026-01-01"
	if diff := cmp.Diff(map[string]any{"buffer": "from npm", "node": "none", "x": "object"}, answer(t, req, build(t, req))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A module of Node that the worker does not have warns, and its functions fail when they
// are called.
func TestMissingNode(t *testing.T) {
	t.Parallel()
	req := project(t, files{
		"src/index.ts": `import fs, { readFileSync } from "node:fs"; import * as path from "node:path"; import { EventEmitter } from "node:events"; import "./lib";
class Mine extends EventEmitter {}
const tried = async (f: () => unknown) => { try { await f(); return "ran" } catch (e) { return (e as Error).message } };
export default { async fetch() { return Response.json({
  named: await tried(() => readFileSync("x")), field: await tried(() => fs.promises.readFile("x")), all: await tried(() => path.join("a")),
  made: await tried(() => new Mine()), kind: typeof fs.existsSync, dynamic: await tried(() => import("node:fs")),
}) } }`,
		"src/lib.ts": `const os = require("node:os"); try { os.cpus() } catch {}; export * from "node:util"; import fs from "node:fs"; export { fs }`,
	})
	req.CompatibilityDate = "2026-01-01"
	r := build(t, req)
	const not = ` is not available: add the compatibility flag "nodejs_compat"`
	got := answer(t, req, r)
	delete(got, "dynamic") // workerd's own words
	if diff := cmp.Diff(map[string]any{
		"named": "node:fs.readFileSync" + not, "field": "node:fs.promises.readFile" + not, "all": "node:path.join" + not,
		"made": "node:events.EventEmitter" + not, "kind": "function",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(r.Warnings) != 5 || !strings.Contains(r.Warnings[1], `"node:fs", imported by src/index.ts, src/lib.ts, fails when it is called`) {
		t.Errorf("warnings: %q", r.Warnings)
	}
	if len(r.Flags) != 0 || len(r.Modules) != 1 {
		t.Errorf("flags %v, modules %v", r.Flags, names(r))
	}
	req.CompatibilityDate, req.CompatibilityFlags = "2024-01-01", []string{"nodejs_compat"} // before node:fs
	if r = build(t, req); len(r.Warnings) != 2 {
		t.Errorf("warnings with the oldest nodejs_compat: %q", r.Warnings)
	}
}

// The classes of performance measurements are global with nodejs_compat at every date.
func TestPerformanceClasses(t *testing.T) {
	t.Parallel()
	for _, date := range []string{"2024-01-01", "2024-09-23", "2026-03-16", "2026-03-17", "2026-11-01"} {
		t.Run(date, func(t *testing.T) {
			t.Parallel()
			req := project(t, files{"src/index.ts": `export default { fetch: () => Response.json(Object.fromEntries(Object.entries({
  Performance, PerformanceEntry, PerformanceMark, PerformanceMeasure, PerformanceObserver, PerformanceObserverEntryList, PerformanceResourceTiming,
}).map(([name, value]) => [name, typeof value]))) }`})
			req.CompatibilityDate, req.CompatibilityFlags = date, []string{"nodejs_compat"}
			got := answer(t, req, build(t, req))
			for name, kind := range got {
				if kind != "function" {
					t.Errorf("%s: %v", name, kind)
				}
			}
			if len(got) != 7 {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestAsyncLocalStorageAlone(t *testing.T) {
	t.Parallel()
	req := project(t, files{"src/index.ts": `import { AsyncLocalStorage as A } from "node:async_hooks"; export default { fetch: () => Response.json({ a: typeof A }) }`})
	req.CompatibilityDate, req.CompatibilityFlags = "2026-01-01", []string{"nodejs_als"}
	if got := answer(t, req, build(t, req)); got["a"] != "function" {
		t.Errorf("got %v", got)
	}
}

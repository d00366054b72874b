package build_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// assetsOf bundles a project and returns the assets without hashes, and main.
func assetsOf(t *testing.T, req build.Request) (a *bundle.Assets, main string) {
	t.Helper()
	req.TempDir = t.TempDir()
	r, err := build.Bundle(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Remove)
	if r.Manifest.Assets != nil {
		for i := range r.Manifest.Assets.Files {
			r.Manifest.Assets.Files[i].SHA256, r.Manifest.Assets.Files[i].Size = "", 0
		}
	}
	return r.Manifest.Assets, r.Manifest.Main
}

func TestAssets(t *testing.T) {
	t.Parallel()
	const worker = "export default {}"
	files := func(names ...string) (list []bundle.File) {
		for _, name := range names {
			list = append(list, bundle.File{Path: "assets/" + name})
		}
		return list
	}
	for _, test := range []struct {
		name  string
		files map[string]string
		req   build.Request // Dir and Assets below the project
		want  bundle.Assets
		main  string
	}{
		{"alone", map[string]string{
			"wrangler.jsonc": `{"name": "x", "compatibility_date": "2026-01-01", "assets": {"directory": "./dist", "html_handling": "none"}}`, "dist/a.html": "a",
		}, build.Request{}, bundle.Assets{HTMLHandling: "none", Files: files("a.html")}, ""},
		{"of an environment", map[string]string{
			"wrangler.jsonc": `{"name": "x", "main": "w.js", "compatibility_date": "2026-01-01", "assets": {"directory": "dist"},
				"env": {"e": {"assets": {"directory": "other", "binding": "A", "run_worker_first": ["/a", "!/b"]}}}}`,
			"w.js": worker, "other/a.html": "a",
		}, build.Request{Env: "e"}, bundle.Assets{Binding: "A", RunWorkerFirst: bundle.WorkerFirst{Patterns: []string{"/a", "!/b"}}, Files: files("a.html")}, "w.js"},
		{"of the command line", map[string]string{
			"wrangler.jsonc": `{"name": "x", "main": "w.js", "compatibility_date": "2026-01-01", "assets": {"directory": "dist", "run_worker_first": true}}`,
			"w.js":           worker, "other/a.html": "a",
		}, build.Request{Assets: "other"}, bundle.Assets{RunWorkerFirst: bundle.WorkerFirst{All: true}, Files: files("a.html")}, "w.js"},
		{
			"without a project file",
			map[string]string{"other/a.html": "a"},
			build.Request{Assets: "other", Project: "x", CompatibilityDate: "2026-01-01"},
			bundle.Assets{Files: files("a.html")},
			"",
		},
		{"of Vite's plugin", map[string]string{
			".wrangler/deploy/config.json": `{"configPath": "../../dist/x/wrangler.json", "auxiliaryWorkers": []}`, "wrangler.jsonc": `{}`,
			"dist/x/wrangler.json": `{"configPath": "/x/wrangler.jsonc", "topLevelName": "x", "name": "x", "main": "index.js", "no_bundle": true, "compatibility_date": "2026-01-01",
				"rules": [{"type": "ESModule", "globs": ["**/*.js", "**/*.mjs"]}], "assets": {"directory": "../client", "binding": "ASSETS"}}`,
			"dist/x/index.js": worker, "dist/client/assets/a-1234.js": "a", "dist/client/.assetsignore": "wrangler.json\n.dev.vars\n",
		}, build.Request{}, bundle.Assets{Binding: "ASSETS", Files: files("assets/a-1234.js")}, "index.js"},
		{"of a site by Vite's plugin", map[string]string{
			".wrangler/deploy/config.json": `{"configPath": "../../dist/client/wrangler.json"}`,
			"dist/client/wrangler.json":    `{"name": "x", "compatibility_date": "2026-01-01", "assets": {"directory": ".", "not_found_handling": "single-page-application"}}`,
			"dist/client/index.html":       "a", "dist/client/.assetsignore": "wrangler.json\n.dev.vars\n", "dist/client/.dev.vars": "A=b",
		}, build.Request{}, bundle.Assets{NotFoundHandling: "single-page-application", Files: files("index.html")}, ""},
		{"of Pages", map[string]string{
			"wrangler.toml": "name = \"x\"\ncompatibility_date = \"2026-01-01\"\npages_build_output_dir = \"dist\"\n", "dist/index.html": "a", "dist/404.html": "a",
		}, build.Request{}, bundle.Assets{Pages: true, NotFoundHandling: "404-page", Files: files("404.html", "index.html")}, ""},
		{"of Pages with modules", map[string]string{
			"wrangler.toml":   "name = \"x\"\ncompatibility_date = \"2026-01-01\"\npages_build_output_dir = \"dist\"\n",
			"dist/index.html": "a", "dist/_worker.js/index.js": `import "./chunk.js"; ` + worker, "dist/_worker.js/chunk.js": "export {}", "functions/a.js": "ignored",
			"dist/_routes.json": `{"version": 1, "include": ["/api/*"], "exclude": ["/api/a"]}`,
		}, build.Request{}, bundle.Assets{
			Pages: true, Binding: "ASSETS", NotFoundHandling: "single-page-application",
			RunWorkerFirst: bundle.WorkerFirst{Patterns: []string{"/api/*", "/api", "!/api/a", "!/api/a/"}}, Files: files("index.html"),
		}, "index.js"},
		{"of Pages with functions", map[string]string{
			"wrangler.toml":   "name = \"x\"\ncompatibility_date = \"2026-01-01\"\npages_build_output_dir = \"dist\"\n",
			"dist/index.html": "a", "functions/api/[id].ts": "export const onRequestGet: unknown = () => new Response()", "functions/lib/util.test.ts": `import "vitest"`,
		}, build.Request{}, bundle.Assets{
			Pages: true, Binding: "ASSETS", NotFoundHandling: "single-page-application", RunWorkerFirst: bundle.WorkerFirst{Patterns: []string{"/api/*", "/api"}}, Files: files("index.html"),
		}, "functions.js"},
		{"of Pages with functions and routes", map[string]string{
			"wrangler.toml":   "name = \"x\"\ncompatibility_date = \"2026-01-01\"\npages_build_output_dir = \"dist\"\n",
			"dist/index.html": "a", "functions/_middleware.js": "export const onRequest = [({ next }) => next()]", "dist/_routes.json": `{"version": 1, "include": ["/*"], "exclude": ["/a/"]}`,
		}, build.Request{}, bundle.Assets{
			Pages: true, Binding: "ASSETS", NotFoundHandling: "single-page-application", RunWorkerFirst: bundle.WorkerFirst{Patterns: []string{"/*", "!/a/", "!/a"}}, Files: files("index.html"),
		}, "functions.js"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.req.Dir = svctest.Files(t, test.files)
			if test.req.Assets != "" {
				test.req.Assets = filepath.Join(test.req.Dir, test.req.Assets)
			}
			got, main := assetsOf(t, test.req)
			if diff := cmp.Diff(&test.want, got); diff != "" || main != test.main {
				t.Errorf("main is %q (-want +got):\n%s", main, diff)
			}
		})
	}
}

// TestDetached: the bundle leaves the assets out, and the result says where they are.
func TestDetached(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{
		"wrangler.jsonc": `{"name": "x", "compatibility_date": "2026-01-01", "assets": {"directory": "dist"}}`, "dist/a.html": "a",
	})
	r, err := build.Bundle(t.Context(), build.Request{Dir: dir, Detached: true, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Remove()
	file := bundle.File{Path: "assets/a.html", SHA256: "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", Size: 1}
	want := []build.Asset{{File: file, Disk: filepath.Join(dir, "dist/a.html")}}
	if diff := cmp.Diff(want, r.Assets); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := bundle.Extract(t.Context(), r.File, filepath.Join(t.TempDir(), "out"), bundle.Limits{}); svc.CodeOf(err) != svc.CodeBundleMismatch {
		t.Errorf("a bundle whose assets are elsewhere: %v", err)
	}
}

func TestAssetsRefused(t *testing.T) {
	t.Parallel()
	const pages = "name = \"x\"\ncompatibility_date = \"2026-01-01\"\npages_build_output_dir = \"dist\"\n"
	for code, files := range map[string]map[string]string{
		"build_failed":   {"wrangler.toml": pages, "dist/index.html": "a", "functions/api/[id].ts": "export const onRequest = ="},
		"config_invalid": {"wrangler.toml": pages, "dist/_worker.js": "export default {}", "dist/_routes.json": "[]"},
		"assets_missing": {"wrangler.toml": pages},
		"assets_invalid": {
			"wrangler.jsonc": `{"name": "x", "compatibility_date": "2026-01-01", "assets": {"directory": "dist"}}`, "dist/_worker.js": "secret",
		},
	} {
		if _, err := build.Bundle(t.Context(), build.Request{Dir: svctest.Files(t, files), TempDir: t.TempDir()}); svc.CodeOf(err) != code {
			t.Errorf("got %v, want %s", err, code)
		}
	}
}

// TestMissingAssets: the error of a deploy names the build of the package that makes them.
func TestMissingAssets(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{
		"worker/wrangler.jsonc": `{"name": "x", "compatibility_date": "2026-01-01", "assets": {"directory": "../web/dist"}}`, "web/package.json": `{"scripts": {"build": "vite build"}}`,
	})
	_, err := build.Bundle(t.Context(), build.Request{Dir: filepath.Join(dir, "worker"), TempDir: t.TempDir()})
	if e := svc.AsError(err); svc.CodeOf(err) != svc.CodeAssetsMissing || e.Hint != "build the project first: cd ../web && npm run build, or correct assets.directory" {
		t.Errorf("%v", err)
	}
}

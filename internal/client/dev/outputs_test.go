package dev

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// The directories that a framework's build writes, and that other projects have none.
func TestOutputs(t *testing.T) {
	t.Parallel()
	const built = `{"scripts": {"build": "vite build"}}`
	worker := func(text string) string { return `{"name": "a", "compatibility_date": "2026-11-01", ` + text + `}` }
	for name, tc := range map[string]struct {
		files map[string]string
		want  []string // directories
		last  []string
	}{
		"SvelteKit": {map[string]string{
			"package.json": built, ".svelte-kit/cloudflare/_worker.js": "",
			"wrangler.json": worker(`"main": ".svelte-kit/cloudflare/_worker.js", "assets": {"directory": ".svelte-kit/cloudflare"}`),
		}, []string{".svelte-kit/cloudflare", ".svelte-kit/cloudflare"}, []string{".svelte-kit/cloudflare/_worker.js"}},
		"Vite": {map[string]string{
			"package.json": built, "wrangler.json": worker(`"main": "src/index.ts"`), "src/index.ts": "",
			".wrangler/deploy/config.json": `{"configPath": "../../dist/a/wrangler.json"}`, "dist/a/index.js": "",
			"dist/a/wrangler.json": worker(`"main": "index.js", "assets": {"directory": "../client"}`),
		}, []string{"dist/a", "dist/client"}, []string{"dist/a/index.js", "dist/a/wrangler.json"}},
		"a Build Output": {map[string]string{
			"src/index.ts": "", ".cloudflare/output/v1/config.json": "{}", ".cloudflare/output/v1/workers/default/bundle/index.js": "",
			".cloudflare/output/v1/workers/default/worker.config.json": `{"name": "a", "compatibilityDate": "2026-11-01", "manifest": {"mainModule": "index.js", "modules": {}}}`,
		}, []string{".cloudflare/output/v1"}, []string{".cloudflare/output/v1/config.json", ".cloudflare/output/v1/workers/default/worker.config.json", ".cloudflare/output/v1/workers/default/bundle/index.js"}},
		"a source": {map[string]string{"package.json": built, "src/index.ts": "", "wrangler.json": worker(`"main": "src/index.ts", "assets": {"directory": "public"}`)}, nil, nil},
		"no build": {map[string]string{".output/index.js": "", "wrangler.json": worker(`"main": ".output/index.js"`)}, nil, nil},
		"a build of its own": {map[string]string{
			"package.json": built, ".output/index.js": "", "wrangler.json": worker(`"main": ".output/index.js", "build": {"command": "true"}`),
		}, nil, nil},
	} {
		dir := svctest.Files(t, tc.files)
		f, _, err := project.Load(dir, project.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		got := outputs(f)
		if diff := cmp.Diff(tc.want, below(t, f.Root, got.Dirs)); diff != "" {
			t.Errorf("%s: directories: %s", name, diff)
		}
		if diff := cmp.Diff(tc.last, below(t, f.Root, got.Last)); diff != "" {
			t.Errorf("%s: last files: %s", name, diff)
		}
	}
}

// below are paths as seen from a directory.
func below(t *testing.T, dir string, paths []string) (list []string) {
	t.Helper()
	for _, path := range paths {
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, rel)
	}
	return list
}

// A change is gone if none of its files is left.
func TestGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if !gone([]string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}) {
		t.Error("files that do not exist are there")
	}
	if gone([]string{filepath.Join(dir, "a"), dir}) {
		t.Error("what exists is gone")
	}
}

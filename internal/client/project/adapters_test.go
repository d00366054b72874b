package project_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestUnbuiltAdapter: a project whose build writes its project file, or main of it, is to be built
// before a deploy.
func TestUnbuiltAdapter(t *testing.T) {
	t.Parallel()
	const astro = `{"scripts": {"build": "astro build"}, "dependencies": {"@astrojs/cloudflare": "13"}}`
	const wrangler = `{"name": "site", "compatibility_date": "2026-11-01"}`
	for _, test := range []struct {
		name  string
		files map[string]string
		want  string // the command; "" for a problem of the check
		code  string // of a deploy
	}{
		{"without main", map[string]string{"package.json": astro, "wrangler.jsonc": wrangler}, "npm run build", svc.CodeConfigInvalid},
		{"without a project file", map[string]string{"package.json": astro, "pnpm-lock.yaml": ""}, "pnpm run build", svc.CodeConfigNotFound},
		{"nuxt", map[string]string{"package.json": `{"scripts": {"build": "nuxt build"}}`, "nuxt.config.ts": "", "wrangler.jsonc": wrangler}, "npm run build", svc.CodeConfigInvalid},
		{"no adapter", map[string]string{"package.json": `{"scripts": {"build": "tsc"}}`, "wrangler.jsonc": wrangler}, "", svc.CodeConfigInvalid},
		{"no adapter and no project file", map[string]string{"package.json": `{"scripts": {"build": "tsc"}}`}, "", svc.CodeConfigNotFound},
		{"no build", map[string]string{"package.json": `{"dependencies": {"@astrojs/cloudflare": "13"}}`}, "", svc.CodeConfigNotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := svctest.Files(t, test.files)
			f, _, err := project.Load(dir, project.Options{Unbuilt: true})
			if (err == nil) != (test.want != "") || err == nil && (f.ToBuild != test.want || f.Dir != dir) {
				t.Errorf("check: %+v, %v", f, err)
			}
			_, _, err = project.Load(dir, project.Options{})
			e := svc.AsError(err)
			if e == nil || e.Code != test.code || test.want != "" && !strings.Contains(e.Error(), test.want) {
				t.Errorf("deploy: %v", err)
			}
		})
	}
}

// TestBuildOfPart: a script or a package that builds a part of the project is named.
func TestBuildOfPart(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		assets string
		files  map[string]string
		want   string // "" for a problem, with a hint
	}{
		"a script for it":     {"dist/web", map[string]string{"package.json": `{"scripts": {"build:api": "tsc", "build:web": "vite build --config apps/web/vite.config.ts"}}`}, "npm run build:web"},
		"the only one":        {"dist", map[string]string{"package.json": `{"scripts": {"build:client": "vite build"}}`}, "npm run build:client"},
		"of another folder":   {"dist", map[string]string{"package.json": `{"scripts": {"build:tmp": "x", "build:001": "x"}}`}, ""},
		"several":             {"dist", map[string]string{"package.json": `{"scripts": {"build:a": "x", "build:b": "x"}}`}, ""},
		"one for all":         {"dist/web", map[string]string{"package.json": `{"scripts": {"build": "turbo build", "build:web": "x"}}`}, "npm run build"},
		"a package below it":  {"apps/mobile/dist", map[string]string{"package.json": `{}`, "apps/mobile/package.json": `{"scripts": {"build": "expo export"}}`}, "cd apps/mobile && npm run build"},
		"one without a build": {"apps/mobile/dist", map[string]string{"package.json": `{}`, "apps/mobile/package.json": `{"scripts": {"start": "expo start"}}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.files["wrangler.json"] = `{"main": "w.js", "compatibility_date": "2026-01-01", "assets": {"directory": "` + test.assets + `"}}`
			test.files["w.js"] = ""
			f, _, err := project.Load(svctest.Files(t, test.files), project.Options{Unbuilt: true})
			if test.want != "" && (err != nil || f.ToBuild != test.want) {
				t.Errorf("%+v, %v, want %s", f, err, test.want)
			}
			if test.want == "" && !slices.ContainsFunc(details(err), func(text string) bool {
				return strings.Contains(text, test.assets+" does not exist: if a tool generates it, run the project's build first, or set build.command, or correct assets")
			}) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestFilesBelow: at the root of a monorepo the project files below it are named.
func TestFilesBelow(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{
		"apps/worker/wrangler.jsonc": "{}", "apps/worker/wrangler.toml": "", "apps/web/src/index.ts": "",
		"node_modules/x/wrangler.toml": "", ".cache/wrangler.toml": "", "a/b/c/d/e/wrangler.toml": "",
	})
	_, _, err := project.Load(dir, project.Options{})
	worker := filepath.Join("apps", "worker", "wrangler.jsonc")
	if e := svc.AsError(err); e == nil || e.Code != svc.CodeConfigNotFound || e.Hint != "found "+worker+": use -c "+worker+"; svcctl check --all . checks all of them" {
		t.Errorf("%v", err)
	}
	if all := project.Files(dir, 0, 0); len(all) != 2 {
		t.Errorf("all: %q", all)
	}
	if _, _, err := project.Load(filepath.Join(dir, "apps", "web"), project.Options{}); !strings.Contains(err.Error(), "run the command in a worker's directory") {
		t.Errorf("%v", err)
	}
}

package project_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestScriptEntry: a project whose scripts give wrangler the entry module needs no main.
func TestScriptEntry(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ scripts, want string }{
		{`{"deploy": "wrangler deploy --minify src/index.ts"}`, "src/index.ts"},
		{`{"a": "wrangler publish b.js", "deploy": "npm run x && npx wrangler@4 deploy ./src/index.ts"}`, "src/index.ts"},
		{`{"dev": "wrangler dev src/index.ts --env dev"}`, "src/index.ts"},
		{`{"deploy": "wrangler deploy gone.ts", "publish": "wrangler publish b.js"}`, "b.js"},
		{`{"deploy": "wrangler pages deploy b.js"}`, ""},
		{`{"deploy": "wrangler deploy && node b.js", "test": "vitest b.js"}`, ""},
		{`["deploy"]`, ""},
	} {
		dir := svctest.Files(t, map[string]string{
			"wrangler.json": `{"name": "shop", "compatibility_date": "2026-01-01"}`, "package.json": `{"scripts": ` + test.scripts + `}`, "src/index.ts": "", "b.js": "",
		})
		f, notices, err := project.Load(dir, project.Options{})
		if test.want == "" {
			if svc.CodeOf(err) != svc.CodeConfigInvalid {
				t.Errorf("%s: %+v, %v", test.scripts, f, err)
			}
			continue
		}
		if err != nil || f.Main != filepath.Join(dir, test.want) || len(notices) != 1 {
			t.Errorf("%s: %+v, %v, %v", test.scripts, f, notices, err)
		}
		if f, _, err = project.Load(dir, project.Options{Entry: filepath.Join(dir, "other.js")}); err != nil || filepath.Base(f.Main) != "other.js" {
			t.Errorf("%s and an argument: %+v, %v", test.scripts, f, err)
		}
	}
	dir := svctest.Files(t, map[string]string{
		"wrangler.json": `{"main": "b.js", "compatibility_date": "2026-01-01"}`, "package.json": `{"scripts": {"deploy": "wrangler deploy src/index.ts"}}`, "src/index.ts": "", "b.js": "",
	})
	if f, _, err := project.Load(dir, project.Options{}); err != nil || filepath.Base(f.Main) != "b.js" {
		t.Errorf("main: %+v, %v", f, err)
	}
}

// TestMadeElsewhere: what another package of a monorepo builds, what an installation brings,
// and what the script deploy builds may be missing in a check.
func TestMadeElsewhere(t *testing.T) {
	t.Parallel()
	build := `{"scripts": {"build": "vite build"}}`
	for _, test := range []struct {
		name, assets string
		files        map[string]string
		want         string // "" is a problem
	}{
		{"a package beside it", "../web/dist", map[string]string{"web/package.json": build, "pnpm-lock.yaml": ""}, "cd ../web && pnpm run build"},
		{"a folder of a package beside it", "../web/dist/spa", map[string]string{"web/package.json": build}, "cd ../web && npm run build"},
		{"the package around it", "../dist", map[string]string{"package.json": build, "bun.lock": ""}, "cd .. && bun run build"},
		{"a package", "node_modules/explorer/dashboard", map[string]string{"worker/package.json": build, "yarn.lock": ""}, "yarn install"},
		{"the script deploy", "dist", map[string]string{"worker/package.json": `{"scripts": {"deploy": "npm run build:site && wrangler deploy"}}`}, "npm run build:site"},
		{"what the script deploy builds", "dist", map[string]string{"worker/package.json": `{"scripts": {"build": "vite build", "deploy": "tsc -b build && pnpm -r build && wrangler deploy"}}`}, "pnpm -r build"},
		{"the plugin of Vite", ".", map[string]string{"worker/package.json": `{"devDependencies": {"@cloudflare/vite-plugin": "1"}}`, "worker/vite.config.ts": ""}, "npm run build"},
		{"its own build", "dist", map[string]string{"worker/package.json": build}, "npm run build"},
		{"a package without a build", "../web/dist", map[string]string{"web/package.json": "{}"}, ""},
		{"nothing", "dist", map[string]string{"worker/package.json": `{"scripts": {"deploy": "wrangler deploy"}}`}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.files["worker/wrangler.json"] = `{"main": "w.js", "compatibility_date": "2026-01-01", "assets": {"directory": "` + test.assets + `"}}`
			test.files["worker/w.js"] = ""
			dir := filepath.Join(svctest.Files(t, test.files), "worker")
			f, _, err := project.Load(dir, project.Options{Unbuilt: true})
			if test.want == "" {
				if svc.CodeOf(err) != svc.CodeAssetsMissing {
					t.Errorf("%+v, %v", f, err)
				}
				return
			}
			if err != nil || f.ToBuild != test.want {
				t.Errorf("%+v, %v, want %s", f, err, test.want)
			}
			if hint := project.BuildHint(dir, f.Assets.Dir); !strings.HasSuffix(hint, " first: "+test.want) {
				t.Error(hint)
			}
		})
	}
}

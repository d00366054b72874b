package project_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// typed are options for project files that are programs.
func typed(t *testing.T) project.Options {
	t.Helper()
	path := workerdtest.Binary(t)
	return project.Options{Engine: func(context.Context) (string, error) { return path, nil }, Environ: []string{"SHOP_STAGE=local"}}
}

// TestTyped: the evaluated file says the same as what wrangler made of it.
func TestTyped(t *testing.T) {
	t.Parallel()
	dir := tree(t, "wrangler")
	if err := os.RemoveAll(filepath.Join(dir, ".cloudflare")); err != nil {
		t.Fatal(err)
	}
	f, notices, err := project.Load(dir, typed(t))
	if err != nil {
		t.Fatal(err)
	}
	shop(t, f)
	if f.Main != filepath.Join(dir, "src/index.ts") || f.Assets.Dir != filepath.Join(dir, "public") || len(f.Bundling.Rules) != 1 || f.Bundling.NoBundle {
		t.Errorf("%+v", f)
	}
	if len(notices) != 1 || notices[0].Text != "no effect here: workersDev, domains" || len(f.Inputs) != 3 {
		t.Errorf("notices %v, inputs %q", notices, f.Inputs)
	}
}

// TestTypedPlaces: problems have the place of the source, and mode and preview arrive.
func TestTypedPlaces(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{"src/i.ts": "", "wrangler.config.ts": "export default {\n  minify: 7,\n  name: \"no\",\n};", "cloudflare.config.ts": `import { bindings, defineConfig, triggers } from "cf/config";

export default defineConfig(({ mode, isPreview }) => ({
  worker: {
    name: mode + "-" + isPreview,
    entrypoint: "./src/i.ts",
    compatibilityDate: "soon",
    triggers: [
      triggers.scheduled({ schedule: "never" }),
    ],
    env: {
      PICTURES: bindings.images(),
      QUEUE: bindings.queue({ name: "a b" }),
    },
  },
}));
`})
	o := typed(t)
	o.Mode, o.Previews = "staging", true
	_, notices, err := project.Load(dir, o)
	e := svc.AsError(err)
	if svc.CodeOf(err) != svc.CodeConfigUnsupported || len(e.Fields) != 5 {
		t.Fatalf("%v", err)
	}
	for i, want := range []string{
		"cloudflare.config.ts:12:7: env.PICTURES is not supported: it is a service of Cloudflare's platform (--allow-missing images",
		`cloudflare.config.ts:7:5: compatibilityDate is "soon", which is no date`,
		`cloudflare.config.ts:13:31: env.QUEUE.name is "a b"`,
		"cloudflare.config.ts:9:38: triggers[0].schedule: ",
		"wrangler.config.ts:2:3: minify is a number and must be true or false",
	} {
		found := false
		for _, f := range e.Fields {
			found = found || strings.HasPrefix(f.Detail, want)
		}
		if !found {
			t.Errorf("no problem %d: %s", i, want)
		}
	}
	if len(notices) < 1 || notices[0].String() != `wrangler.config.ts:3:3: unexpected field "name" has no effect: it belongs in cloudflare.config.ts` {
		t.Errorf("notices %v", notices)
	}
	if t.Failed() {
		for _, f := range e.Fields {
			t.Log(f.Detail)
		}
	}
}

// TestTypedOwn: the export svcctl is the section svcctl, for the file and for a Build Output of it.
func TestTypedOwn(t *testing.T) {
	t.Parallel()
	const config = `export const svcctl = { allow_missing: ["images"], promote: { guard: "refuse" } };
export default { worker: { name: "a", entrypoint: "./i.js", compatibilityDate: "2026-11-01", env: { I: { type: "images" } } }, containers: [] };`
	for name, dir := range map[string]string{
		"file": svctest.Files(t, map[string]string{"i.js": "", "cloudflare.config.ts": config}),
		"output": outputOf(t, `{"name": "a", "compatibilityDate": "2026-11-01", "env": {"I": {"type": "images"}}, "manifest": {"mainModule": "index.js", "modules": {}}}`,
			map[string]string{"cloudflare.config.ts": config}),
	} {
		f, _, err := project.Load(dir, typed(t))
		if err != nil || len(f.Missing) != 1 || f.Release == nil || f.Release.Guard != "refuse" {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	bad := svctest.Files(t, map[string]string{"i.js": "", "cloudflare.config.ts": strings.Replace(config, "guard", "gard", 1)})
	if _, _, err := project.Load(bad, typed(t)); err == nil || !strings.Contains(err.Error(), `cloudflare.config.ts:1:63: svcctl.promote.gard is not a key`) {
		t.Errorf("%v", err)
	}
}

// TestTypedByVite: a project of Vite without a Build Output is refused with the command, and checked without it.
func TestTypedByVite(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{
		"vite.config.ts": "", "package.json": `{"scripts": {"build": "vite build"}}`,
		"cloudflare.config.ts": `export default { worker: { name: "a", entrypoint: "virtual/server", compatibilityDate: "2026-11-01", assets: { notFoundHandling: "none" } } };`,
	})
	_, _, err := project.Load(dir, typed(t))
	if e := svc.AsError(err); svc.CodeOf(err) != svc.CodeConfigNotBuilt || !strings.Contains(e.Hint, "npm run build") {
		t.Errorf("%v", err)
	}
	o := typed(t)
	o.Unbuilt = true
	if f, _, err := project.Load(dir, o); err != nil || f.ToBuild != "npm run build" {
		t.Errorf("%+v, %v", f, err)
	}
	if _, _, err := project.Load(dir, project.Options{Unbuilt: true}); svc.CodeOf(err) != svc.CodeConfigNotEvaluated {
		t.Errorf("without an engine: %v", err)
	}
}

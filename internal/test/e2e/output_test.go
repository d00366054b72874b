//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestOutputOfTools deploys one project three times: as wrangler built it (Build Output v1), as Vite's plugin
// did (v0), and from cloudflare.config.ts, which svcctl evaluates and bundles itself. All answer the same.
func TestOutputOfTools(t *testing.T) {
	t.Parallel()
	d := started(t)
	for i, test := range []struct{ project, remove, help string }{
		{"wrangler", "", "# Help\n"}, {"vite", "", ""}, {"wrangler", ".cloudflare", "# Help\n"},
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("../../client/project/testdata/output/"+test.project)); err != nil {
			t.Fatal(err)
		}
		if test.remove != "" {
			if err := os.RemoveAll(filepath.Join(dir, test.remove)); err != nil {
				t.Fatal(err)
			}
		}
		d.shop(dir, []string{"v1", "v2", "v3"}[i], test.help)
	}
	d.previewOfTyped(t)
	d.workersOfOutput(t)
}

// shop deploys the project and asks all parts of it.
func (d *daemon) shop(dir, version, help string) {
	d.t.Helper()
	v := d.deploy(dir, "--version", version, "--var", "TOKEN=t")
	if a := d.get(v.PreviewURL + "/some/page"); a.Status != 200 || !strings.Contains(a.Body, "<h1>shop</h1>") {
		d.t.Errorf("%s: %d %q", version, a.Status, a.Body)
	}
	var got struct {
		Stage, Help, Lazy string
		Limits            struct{ Items int }
		DB                int
		Names             []string
	}
	a := d.get(v.PreviewURL + "/api/x")
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
		d.t.Fatalf("%s: %d %q", version, a.Status, a.Body)
	}
	names := []string{"ASSETS", "CACHE", "DB", "FILES", "JOBS", "LIMITS", "PROJECT_ID", "ROOM", "STAGE", "TOKEN", "VERSION_ID"}
	if got.Stage != "local" || got.Help != help || got.Lazy != "later" || got.Limits.Items != 10 || got.DB != 0 || !slices.Equal(got.Names, names) {
		d.t.Errorf("%s: %+v", version, got)
	}
	for _, want := range []string{"1", "2"} {
		if a := d.get(v.PreviewURL + "/api/room"); a.Body != want {
			d.t.Errorf("%s: the object answers %d %q, want %s", version, a.Status, a.Body, want)
		}
	}
}

// previewOfTyped: mode and isPreview arrive in cloudflare.config.ts, and a renamed class keeps its objects.
func (d *daemon) previewOfTyped(t *testing.T) {
	t.Helper()
	const config = `import { bindings, defineConfig, exports } from "cf/config";
export default defineConfig(({ mode, isPreview }) => ({ worker: {
  name: "typed", entrypoint: "./i.js", compatibilityDate: "2026-11-01",
  env: { MODE: bindings.text(mode + " " + isPreview), ROOM: bindings.durableObject({ worker: "typed", exportName: "Room" }) },
  exports: { Room: exports.durableObject({ storage: "sqlite" }) },
} }));`
	const code = `import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject { async add() { const n = ((await this.ctx.storage.get("n")) ?? 0) + 1; await this.ctx.storage.put("n", n); return n; } }
export default { async fetch(request, env) { return new Response(env.MODE + " " + await env.ROOM.getByName("a").add()); } };`
	files := map[string]string{"cloudflare.config.ts": config, "i.js": code}
	v := d.deploy(svctest.Files(t, files), "--version", "v1", "--mode", "blue")
	if a := d.get(v.PreviewURL); a.Body != "blue false 1" {
		t.Errorf("%d %q", a.Status, a.Body)
	}
	d.do("POST", v.PreviewURL, "", "") // the object's state must be in the data before the fork reads it
	files["cloudflare.config.ts"] = strings.ReplaceAll(strings.Replace(config, "exports: { Room:", `exports: { Room: exports.durableObject({ state: "renamed", renamedTo: "Hall" }), Hall:`, 1), `exportName: "Room"`, `exportName: "Hall"`)
	files["i.js"] = strings.ReplaceAll(code, "class Room", "class Hall")
	if out, notes, code := d.run(svctest.Files(t, files), "preview", "--name", "pr-1", "--parent", "v1", "--mode", "green", "-o", "json"); code != 0 {
		t.Fatalf("exit %d: %s %s", code, out, notes)
	}
	p, err := d.client().Preview(t.Context(), "typed", "pr-1")
	if err != nil {
		t.Fatal(err)
	}
	if a := d.get(p.URL); a.Body != "green true 3" {
		t.Errorf("the preview: %d %q", a.Status, a.Body)
	}
	files["cloudflare.config.ts"] = strings.Replace(files["cloudflare.config.ts"], `Room: exports.durableObject({ state: "renamed", renamedTo: "Hall" }), `, "", 1)
	if _, notes, code := d.run(svctest.Files(t, files), "deploy", "--wait", "--parent", p.VersionID); code == 0 || !strings.Contains(notes, "object_class_differs") && !strings.Contains(notes, `keep "Room"`) {
		t.Errorf("without the entry: exit %d: %s", code, notes)
	}
}

// workersOfOutput: the workers beside the default one are deployed with it, those that it calls first.
func (d *daemon) workersOfOutput(t *testing.T) {
	t.Helper()
	worker := func(name, env string) string {
		return `{"name": "` + name + `", "compatibilityDate": "2026-11-01", "env": {` + env + `}, "manifest": {"type": "partial", "mainModule": "index.js", "modules": {}}}`
	}
	const out = ".cloudflare/output/v1/workers/"
	dir := svctest.Files(t, map[string]string{
		out + "default/worker.config.json": worker("front", `"API": {"type": "worker", "worker": "back"}`), out + "default/bundle/index.js": `export default { fetch: (r, env) => env.API.fetch(r) };`,
		out + "back/worker.config.json": worker("back", ""), out + "back/bundle/index.js": `import { text } from "./chunks/text.mjs"; export default { fetch: () => new Response(text) };`,
		out + "back/bundle/chunks/text.mjs": `export const text = "from back";`,
	})
	if _, notes, code := d.run(dir, "deploy", "--wait", "--version", "v1"); code != 0 {
		t.Fatalf("exit %d: %s", code, notes)
	}
	v, err := d.client().Version(t.Context(), "front", "v1")
	if err != nil {
		t.Fatal(err)
	}
	if a := d.get(v.PreviewURL); a.Body != "from back" {
		t.Errorf("%d %q", a.Status, a.Body)
	}
}

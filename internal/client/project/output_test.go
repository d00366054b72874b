package project_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// tree copies a project that a tool has built, so that the output is newer than its sources.
func tree(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata/output", name))); err != nil {
		t.Fatal(err)
	}
	config, _ := filepath.Glob(filepath.Join(dir, ".cloudflare/output/*/workers/default/worker.config.json")) // the pattern is valid
	soon := time.Now().Add(time.Minute)
	if err := os.Chtimes(config[0], soon, soon); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestOutput: the trees of wrangler 4.164.0 (v1) and of Vite's plugin 1.64.0 (v0) are read.
func TestOutput(t *testing.T) {
	t.Parallel()
	for name, modules := range map[string][]project.Module{
		"wrangler": {{"bf8a79efe7d013e83df3a4cb20684f7888b9902c-help.md", "Text"}, {"index.js", "ESModule"}},
		"vite":     {{"assets/lazy-DUqhxq8O.js", "ESModule"}, {"index.js", "ESModule"}},
	} {
		dir := tree(t, name)
		f, notices, err := project.Load(filepath.Join(dir, "src"), project.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(notices) != 1 || notices[0].Text != "no effect here: domains, workersDev" {
			t.Errorf("%s: notices %v", name, notices)
		}
		shop(t, f)
		if diff := cmp.Diff(modules, f.Bundling.Modules); diff != "" || !f.Bundling.NoBundle || f.Main != filepath.Join(f.Output, "bundle/index.js") {
			t.Errorf("%s: main %s (-want +got):\n%s", name, f.Main, diff)
		}
		if f.Root != dir || f.Dir != dir || f.Assets.Dir != filepath.Join(f.Output, "assets") || f.Databases[0].MigrationsDir != filepath.Join(dir, "migrations") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// shop checks what the projects in testdata/output declare.
func shop(t *testing.T, f *project.File) {
	t.Helper()
	five, two := 5, 2
	want := project.File{
		Name: "shop", WorkerName: "shop", CompatibilityDate: "2026-11-01", CompatibilityFlags: []string{"nodejs_compat"},
		Vars:      map[string]bundle.Var{"STAGE": bundle.TextVar("local"), "LIMITS": {JSON: []byte(`{"items":10}`)}},
		KV:        []project.KV{{Binding: "CACHE"}},
		Buckets:   []project.Bucket{{Binding: "FILES", Name: "shop-files"}},
		Producers: []project.Producer{{Binding: "JOBS", Queue: "jobs"}},
		Consumers: []bundle.QueueConsumer{{Queue: "jobs", MaxBatchSize: &five, MaxRetries: &two}},
		Crons:     []string{"*/5 * * * *"},
		Objects:   []project.ObjectBinding{{"ROOM", "Room", "Room"}}, ObjectClasses: []bundle.ObjectClass{{Name: "Room", Key: "Room", SQL: true, Described: true}},
	}
	got := project.File{
		Name: f.Name, WorkerName: f.WorkerName, CompatibilityDate: f.CompatibilityDate, CompatibilityFlags: f.CompatibilityFlags, Vars: f.Vars, KV: f.KV, Buckets: f.Buckets,
		Producers: f.Producers, Consumers: f.Consumers, Crons: f.Crons, Objects: f.Objects, ObjectClasses: f.ObjectClasses,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(project.Database{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(f.Secrets) != 1 || f.Secrets[0].Name != "TOKEN" || len(f.Databases) != 1 || f.Databases[0].Resource() != "shop-db" || len(f.Services) > 0 {
		t.Errorf("secrets %v, databases %v, services %v", f.Secrets, f.Databases, f.Services)
	}
	a := f.Assets
	if a == nil || a.Binding != "ASSETS" || a.NotFoundHandling != bundle.NotFoundSPA || !slices.Equal(a.WorkerFirst.Patterns, []string{"/api/*"}) {
		t.Errorf("assets %+v", a)
	}
}

// output is a project with a Build Output of one worker, and more files.
func outputOf(t *testing.T, config string, more map[string]string) string {
	t.Helper()
	files := map[string]string{".cloudflare/output/v1/workers/default/worker.config.json": config, ".cloudflare/output/v1/workers/default/bundle/index.js": "export default {}"}
	maps.Copy(files, more)
	return svctest.Files(t, files)
}

// TestOutputProblems: problems are named as the file names them, with its place.
func TestOutputProblems(t *testing.T) {
	t.Parallel()
	const path = ".cloudflare/output/v1/workers/default/worker.config.json"
	module := `, "manifest": {"type": "complete", "mainModule": "index.js", "modules": {"index.js": {"type": "esm"}`
	for want, keys := range map[string]string{
		path + `:2:2: env.IMG is not supported: it is a service of Cloudflare's platform (--allow-missing images deploys without it)`: `"env": {"IMG": {"type": "images"}}` + module + `}}`,
		path + `:2:9: env.L.type`:                              "",
		`env.L is of the type "laser", which is not`:           `"env": {"L": {"type": "laser"}}` + module + `}}`,
		`env.Q.name is "a b"; the name of a queue has`:         `"env": {"Q": {"type": "queue", "name": "a b"}}` + module + `}}`,
		`env.W has no "worker"`:                                `"env": {"W": {"type": "worker"}}` + module + `}}`,
		`the module x.py is Python`:                            `"name": "a"` + module + `, "x.py": {"type": "python"}}}`,
		`manifest names the module b.js, which is no file`:     `"name": "a"` + module + `, "b.js": {"type": "esm"}}}`,
		`manifest.modules has "../b.js", which is no path`:     `"name": "a"` + module + `, "../b.js": {"type": "esm"}}}`,
		`assets.basePath is not supported: put the files in a`: `"assets": {"basePath": "/docs"}` + module + `}}`,
		`triggers[0].schedule: `:                               `"triggers": [{"type": "scheduled", "schedule": "never"}]` + module + `}}`,
		`triggers[0] is of the type "moon"`:                    `"triggers": [{"type": "moon"}]` + module + `}}`,
		`exports.A is transferred, which is not supported`:     `"exports": {"A": {"type": "durable-object", "state": "transferred", "transferredTo": "b"}}` + module + `}}`,
	} {
		if keys == "" {
			continue
		}
		_, _, err := project.Load(outputOf(t, `{"name": "a", "compatibilityDate": "2026-11-01",`+"\n "+strings.Replace(keys, `"name": "a"`, `"limits": {}`, 1)+"}", nil), project.Options{})
		text := ""
		if e := svc.AsError(err); e != nil {
			text = e.Detail
			for _, f := range e.Fields {
				text += "\n" + f.Detail
			}
		}
		if !strings.Contains(text, strings.TrimPrefix(want, path+":2:2")) || !strings.Contains(text, path+":2:") {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}

// TestOutputNotices: what does not fit about the build is said.
func TestOutputNotices(t *testing.T) {
	t.Parallel()
	config := `{"name": "a", "compatibilityDate": "2026-11-01", "moon": 1, "env": {"K": {"type": "kv", "moon": 1}}, "manifest": {"type": "partial", "mainModule": "index.js", "modules": {"b.txt": {"type": "text"}}}}`
	dir := outputOf(t, config, map[string]string{
		".cloudflare/output/v1/config.json": `{"buildContext": {"isPreview": true, "mode": "staging"}}`, "src/index.ts": "", "package.json": `{"scripts": {"build": "vite build"}}`,
		".cloudflare/output/v1/workers/default/bundle/b.txt": "b", ".cloudflare/output/v1/workers/default/bundle/c/d.mjs": "export {}", ".cloudflare/output/v1/workers/default/bundle/index.js.map": "{}",
		".cloudflare/output/v1/workers/api/worker.config.json": `{"name": "b", "compatibilityDate": "2026-11-01"}`,
	})
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "src/index.ts"), later, later); err != nil {
		t.Fatal(err)
	}
	f, notices, err := project.Load(dir, project.Options{Mode: "production"})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, n := range notices {
		texts = append(texts, n.Text)
	}
	want := []string{
		`unexpected field "moon" has no effect`, `unexpected field "env.K.moon" has no effect`,
		"the Build Output was made for a preview; svcctl preview deploys one", "the Build Output was made with the mode staging, not production: build the project again",
		"src/index.ts is newer than the Build Output: run npm run build", "it has 2 workers; svcctl deploy deploys all of them",
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]project.Module{{"b.txt", "Text"}, {"c/d.mjs", "ESModule"}, {"index.js", "ESModule"}}, f.Bundling.Modules); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
	workers := project.Workers(dir)
	if len(workers) != 2 || !strings.HasSuffix(workers[0], "default/worker.config.json") {
		t.Fatalf("workers %q", workers)
	}
	if api, _, err := project.Load(dir, project.Options{Config: workers[1]}); err == nil || svc.CodeOf(err) != svc.CodeConfigInvalid {
		t.Errorf("a worker without modules and assets: %+v, %v", api, err)
	}
}

// TestWhichFile: the Build Output comes before cloudflare.config.ts and all others, in the nearest directory.
func TestWhichFile(t *testing.T) {
	t.Parallel()
	older := `{"type": "worker", "name": "older", "compatibilityDate": "2026-11-01", "env": {"A": {"type": "worker", "workerName": "b"}}, "manifest": {"mainModule": "i.js", "modules": {"i.js": {"type": "esm"}}}}`
	dir := svctest.Files(t, map[string]string{
		"wrangler.jsonc": `{"name": "old"}`, "cloudflare.config.ts": "export default {}", ".wrangler/deploy/config.json": "{}",
		".cloudflare/output/v0/workers/default/config.json": older, ".cloudflare/output/v0/workers/default/bundle/i.js": "export default {}",
		"below/wrangler.jsonc": `{"name": "below", "main": "w.js", "compatibility_date": "2026-11-01"}`,
	})
	for from, want := range map[string]string{".": "older", "below": "below"} {
		if f, _, err := project.Load(filepath.Join(dir, from), project.Options{}); err != nil || f.Name != want {
			t.Errorf("%s: %+v, %v", from, f, err)
		}
	}
	if f, _, err := project.Load(dir, project.Options{Config: "cloudflare.config.ts"}); err != nil || f.Services[0].Name != "b" {
		t.Errorf("named: %+v, %v", f, err)
	}
	o := typed(t)
	o.Entry = filepath.Join(dir, "src/i.ts")
	if _, _, err := project.Load(dir, o); svc.CodeOf(err) != svc.CodeConfigInvalid || !strings.Contains(err.Error(), "defines no worker") {
		t.Errorf("an entry module takes the config: %v", err)
	}
	if _, _, err := project.Load(dir, project.Options{Env: "staging"}); svc.CodeOf(err) != svc.CodeConfigEnvUnknown {
		t.Errorf("with an environment: %v", err)
	}
}

func FuzzOutput(f *testing.F) {
	for _, name := range []string{"wrangler", "vite"} {
		files, _ := filepath.Glob("testdata/output/" + name + "/.cloudflare/output/*/workers/default/worker.config.json") // the pattern is valid
		text, err := os.ReadFile(files[0])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"name":7,"env":{"A":7,"B":{"type":"queue"},"C":{"type":"unsafe:x"}},"exports":[],"triggers":[7,{"type":"email"}],"limits":{"x":1},"experimental":{"a":1}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := project.ReadOutput("worker.config.json", text); svc.CodeOf(err) == svc.CodeInternal {
			t.Fatal(err)
		}
	})
}

package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/client/evaluate"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// request is one for the files of a project.
func request(t *testing.T, files map[string]string) evaluate.Request {
	t.Helper()
	dir := svctest.Files(t, files)
	req := evaluate.Request{File: filepath.Join(dir, "cloudflare.config.ts"), Environ: []string{"STAGE=blue"}, Engine: engine(t)}
	if _, there := files["wrangler.config.ts"]; there {
		req.Tooling = filepath.Join(dir, "wrangler.config.ts")
	}
	return req
}

func engine(t *testing.T) func(context.Context) (string, error) {
	t.Helper()
	path := workerdtest.Binary(t)
	return func(context.Context) (string, error) { return path, nil }
}

// TestConfig: what a file exports arrives, whichever form it has.
func TestConfig(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files   map[string]string
		mode    string
		preview bool
		want    string
	}{
		"an object": {
			map[string]string{"cloudflare.config.ts": `import { bindings, defineConfig } from "cf/config";
			export default defineConfig({ worker: { name: "a", env: { K: bindings.kv(), D: bindings.d1({ name: "d" }), T: bindings.text("t"), R: bindings.rateLimit({ namespace: "1" }) } } });`},
			"", false, `{"name":"a","env":{"K":{"type":"kv"},"D":{"type":"d1","name":"d"},"T":{"type":"text","value":"t"},"R":{"type":"rate-limit","namespace":"1"}}}`,
		},
		"a function of the mode": {
			map[string]string{"cloudflare.config.ts": `export default async ({ mode, isPreview }) => ({ worker: { name: mode + isPreview, env: { OFF: isPreview && { type: "ai" }, NONE: undefined } } });`},
			"staging", true, `{"name":"stagingtrue","env":{"OFF":{"type":"ai"}}}`,
		},
		"what is off": {
			map[string]string{"cloudflare.config.ts": `export default ({ mode, isPreview }) => ({ worker: { name: String(mode), env: { OFF: isPreview && { type: "ai" } } } });`},
			"", false, `{"name":"undefined","env":{}}`,
		},
		"the older form": {
			map[string]string{"cloudflare.config.ts": `import { defineWorker } from "wrangler/experimental-config"; export default defineWorker({ name: "old", entrypoint: "./i.js" });`},
			"", false, `{"name":"old","entrypoint":"./i.js"}`,
		},
		"other files, the environment, an entry": {
			map[string]string{
				"cloudflare.config.ts": `import { name } from "./names.ts"; import * as entrypoint from "./src/i.ts" with { type: "cf-worker" }; import path from "node:path";
				export default { worker: { name: name as string, entrypoint, env: { S: { type: "text", value: process.env.STAGE + path.join("a", "b") + process.env.HOME } } } };`,
				"names.ts": `export const name: string = "n";`,
			},
			"", false, `{"name":"n","entrypoint":"DIR/src/i.ts","env":{"S":{"type":"text","value":"bluea/bundefined"}}}`,
		},
		"another worker": {
			map[string]string{
				"cloudflare.config.ts": `import other from "./other"; export default { worker: { name: "a", env: { O: { type: "worker", worker: other }, W: { type: "worker", worker: async () => ({ name: "w" }) } } } };`,
				"other.ts":             `export default { worker: { name: "other" } };`,
			},
			"", false, `{"name":"a","env":{"O":{"type":"worker","worker":"other"},"W":{"type":"worker","worker":"w"}}}`,
		},
		"imports of files that are not used": {
			map[string]string{"cloudflare.config.ts": `import { readFileSync } from "node:fs"; import cp from "child_process"; void readFileSync; void cp; export default { worker: { name: "a" } };`},
			"", false, `{"name":"a"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := request(t, test.files)
			req.Mode, req.Preview = test.mode, test.preview
			r, err := evaluate.Config(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(test.want, "DIR", filepath.Dir(req.File))
			if diff := cmp.Diff(want, string(r.Worker)); diff != "" || len(r.Inputs) != len(test.files) {
				t.Errorf("inputs %q (-want +got):\n%s", r.Inputs, diff)
			}
		})
	}
}

// TestExports: wrangler.config.ts and the export svcctl are beside the worker.
func TestExports(t *testing.T) {
	t.Parallel()
	r, err := evaluate.Config(t.Context(), request(t, map[string]string{
		"cloudflare.config.ts": `export const svcctl = { allow_missing: ["images"] }; export default { worker: { name: "a" }, containers: [{}, {}] };`,
		"wrangler.config.ts":   `import { defineWranglerConfig } from "wrangler/experimental-config"; export default defineWranglerConfig(({ isPreview }) => ({ minify: !isPreview }));`,
	}))
	if err != nil || string(r.Own) != `{"allow_missing":["images"]}` || string(r.Tooling) != `{"minify":true}` || r.Containers != 2 {
		t.Errorf("%s, %s, %d containers, %v", r.Own, r.Tooling, r.Containers, err)
	}
}

// TestInvalid: each error names the file and the line, and what to do.
func TestInvalid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"syntax":         {"export default {\n  worker: {{\n", "cloudflare.config.ts:2:12: Expected identifier"},
		"no module":      {"import x from \"nowhere\";\nexport default x;", "cloudflare.config.ts:1:15: Could not resolve \"nowhere\""},
		"throws":         {"const fail = () => {\n  throw new TypeError(\"SALDO is required\");\n};\nexport default () => fail();", "cloudflare.config.ts:2:9: TypeError: SALDO is required\n\n"},
		"throws outside": {"\nthrow new Error(\"no\");\nexport default {};", "cloudflare.config.ts:2:7: no\n\n"},
		"reads a file":   {"import fs from \"fs\";\n\nexport default { worker: { name: fs.readFileSync(\"x\") } };", "cloudflare.config.ts:3:37: readFileSync of node:fs is not there: the file is evaluated without files, network and processes"},
		"no default":     {"export const x = 1;", "cloudflare.config.ts: there is no default export"},
		"no object":      {"export default 7;", "cloudflare.config.ts: the default export is number, and must be an object"},
		"loops":          {"export default () => { for (;;); };", "cloudflare.config.ts was not evaluated in 5s: it loops, or waits"},
		"waits":          {"export default () => new Promise(() => {});", "cloudflare.config.ts was not evaluated: it waits for something that does not come"},
		"asks the net":   {"export default async () => ({ worker: { name: await (await fetch(\"http://example.com\")).text() } });", "cloudflare.config.ts:1:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := evaluate.Config(t.Context(), request(t, map[string]string{"cloudflare.config.ts": test.text}))
			if e := svc.AsError(err); svc.CodeOf(err) != svc.CodeConfigInvalid || !strings.HasPrefix(e.Detail, test.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestWithoutEngine: the error says what to do.
func TestWithoutEngine(t *testing.T) {
	t.Parallel()
	req := request(t, map[string]string{"cloudflare.config.ts": "export default {}"})
	for _, engine := range []func(context.Context) (string, error){nil, func(context.Context) (string, error) { return "", errors.New("no") }} {
		req.Engine = engine
		_, err := evaluate.Config(t.Context(), req)
		if e := svc.AsError(err); svc.CodeOf(err) != svc.CodeConfigNotEvaluated || !strings.Contains(e.Hint, "svcctl runtime install") {
			t.Errorf("%v", err)
		}
	}
}

// TestRemembered: a second evaluation starts no process, and a change of an input is seen.
func TestRemembered(t *testing.T) {
	t.Parallel()
	req := request(t, map[string]string{"cloudflare.config.ts": `import { name } from "./n"; export default { worker: { name } };`, "n.ts": `export const name = "a";`})
	started, real := 0, req.Engine
	req.Engine = func(ctx context.Context) (string, error) { started++; return real(ctx) }
	name := func() (w struct {
		Name string `json:"name"`
	},
	) {
		r, err := evaluate.Config(t.Context(), req)
		if err != nil || json.Unmarshal(r.Worker, &w) != nil {
			t.Fatal(err)
		}
		return w
	}
	if a, again := name(), name(); a != again || started != 1 {
		t.Errorf("%v, %v after %d starts", a, again, started)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(req.File), "n.ts"), []byte(`export const name = "longer";`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := name(); got.Name != "longer" || started != 2 {
		t.Errorf("%v after %d starts", got, started)
	}
}

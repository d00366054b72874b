package workerd_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestExplainRealFailures starts workers that cannot start.
func TestExplainRealFailures(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spoil func(c *workerd.Config)
		code  string
		text  string
	}{
		"throws": {
			func(c *workerd.Config) { source(c, "throw new Error('boom at load\\nsecond line')") },
			svc.CodeStartupException, "Error: boom at load second line at index.js:1:7",
		},
		"rejects at the top level": {
			func(c *workerd.Config) { source(c, "await Promise.reject(new TypeError('no'))") },
			svc.CodeStartupException, "TypeError: no at index.js:1:22",
		},
		"never settles": {
			func(c *workerd.Config) { source(c, "await new Promise(() => {})") },
			svc.CodeStartupException, "Error: Top-level await in module is unsettled.",
		},
		"exports a constant": {
			func(c *workerd.Config) { source(c, "export const x = 1; export default {}") },
			svc.CodeStartupException, "TypeError: Incorrect type for map entry 'x': the provided value is not of type 'function or ExportedHandler'.",
		},
		"syntax": {
			func(c *workerd.Config) { source(c, "export default {\n fetch( { return 1 } }") },
			svc.CodeSyntaxError, "SyntaxError: Unexpected number at index.js:2:17",
		},
		"no such export": {
			func(c *workerd.Config) { source(c, "import { nope } from 'node:fs'; export default {}") },
			svc.CodeSyntaxError, "SyntaxError: The requested module 'node:fs' does not provide an export named 'nope' at index.js:1:9",
		},
		"module missing": {
			func(c *workerd.Config) { source(c, "import './nope.js'; export default {}") },
			svc.CodeModuleMissing, `Error: No such module "nope.js". imported from "index.js"`,
		},
		"out of memory": {
			func(c *workerd.Config) {
				c.V8Flags = []string{"--max-old-space-size=32"}
				source(c, "const a = []; while (true) a.push(new Array(1000).fill({}));")
			},
			svc.CodeOutOfMemory, "the worker ran out of memory while it started",
		},
		"date": {
			func(c *workerd.Config) { user(c).CompatibilityDate = "soon" },
			svc.CodeCompatDateInvalid, "Invalid compatibility date: soon",
		},
		"date of another time": {
			func(c *workerd.Config) { user(c).CompatibilityDate = "2999-01-01" },
			svc.CodeCompatDateFuture, `This Worker requires compatibility date "2999-01-01", but the newest date supported by this server binary is "2026-11-24".`,
		},
		"flag": {
			func(c *workerd.Config) { user(c).CompatibilityFlags = []string{"nope"} },
			svc.CodeCompatFlagUnknown, "No such compatibility flag: nope",
		},
		"flags": {
			func(c *workerd.Config) { user(c).CompatibilityFlags = []string{"url_standard", "url_original"} },
			svc.CodeCompatFlagConflict, "Compatibility flags are mutually contradictory: url_standard vs url_original",
		},
		"socket taken": {
			func(c *workerd.Config) { c.Sockets = append(c.Sockets, c.Sockets[0]); c.Sockets[1].Name = "again" },
			svc.CodeStartupFailed, `Socket "again": bind(): Address already in use (os error 98)`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := svctest.ShortDir(t)
			c := config(dir, script("export default {}"))
			tt.spoil(&c)
			p, err := start(t, dir, c)
			if name == "socket taken" && err == nil {
				for range p.log { // the first socket was told before the second failed
				}
				_ = p.cmd.Wait()
			} else if !errors.Is(err, workerd.ErrNotListening) {
				t.Fatalf("start: %v", err)
			}
			code, text := workerd.Explain(p.stderr.String(), nil)
			if code != tt.code || text != tt.text {
				t.Errorf("Explain = %s, %q; want %s, %q", code, text, tt.code, tt.text)
			}
		})
	}
}

func source(c *workerd.Config, js string) { user(c).Modules[0].Source = js }

func TestExplainWords(t *testing.T) {
	t.Parallel()
	long := `{"level":"error","message":"service user: Uncaught Error: ` + strings.Repeat("é", 1000) + `"}`
	if code, text := workerd.Explain(long, nil); code != svc.CodeStartupException || len(text) > 600 || !strings.HasSuffix(text, "é…") {
		t.Errorf("long: %s, %d bytes, %.20q", code, len(text), text[len(text)-8:])
	}
	tests := map[string]struct{ output, code, text string }{
		"nothing":      {"", svc.CodeStartupFailed, ""},
		"only a warn":  {`{"level":"warn","message":"service user: flag is the default"}`, svc.CodeStartupFailed, ""},
		"experimental": {"service a:b: The compatibility flag x is experimental and may break. To use this flag, you must pass --experimental on the command line.", svc.CodeCompatFlagExperimental, "The compatibility flag x is experimental and may break. To use this flag, you must pass --experimental on the command line."},
		"plain text":   {"service user: Uncaught Error: boom\n  at w.js:1:16\n", svc.CodeStartupException, "Error: boom"},
		"config":       {"/run/c.capnp:3:89: Parse error.", svc.CodeStartupFailed, "/run/c.capnp:3:89: Parse error."},
		"cause first":  {`{"level":"error","message":"service user: Uncaught Error: late"}` + "\n" + `{"level":"error","message":"service user: No such compatibility flag: x"}`, svc.CodeCompatFlagUnknown, "No such compatibility flag: x"},
	}
	for name, tt := range tests {
		if code, text := workerd.Explain(tt.output, nil); code != tt.code || text != tt.text {
			t.Errorf("%s: Explain = %s, %q; want %s, %q", name, code, text, tt.code, tt.text)
		}
	}
}

// TestExplainRedacts has values that the fold of spaces or the limit would
// make unrecognizable.
func TestExplainRedacts(t *testing.T) {
	t.Parallel()
	env := map[string]string{"LINES": "short\nof  the  key\nmore of it", "LONG": strings.Repeat("long-secret", 90)}
	for name, tt := range map[string]struct{ output, text string }{
		"lines":        {`{"level":"error","message":"service user: Uncaught Error: bad short\nof  the  key\nmore of it at x.js:1:7"}`, "Error: bad [redacted] at x.js:1:7"},
		"long":         {`{"level":"error","message":"service user: Uncaught Error: bad ` + env["LONG"] + ` at x.js:1:7"}`, "Error: bad [redacted] at x.js:1:7"},
		"unstructured": {"service user: Uncaught Error: bad " + env["LONG"] + "\n", "Error: bad [redacted]"},
	} {
		if _, text := workerd.Explain(tt.output, env); text != tt.text {
			t.Errorf("%s: %q, want %q", name, text, tt.text)
		}
	}
}

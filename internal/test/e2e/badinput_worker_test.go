//go:build e2e

package e2e

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/pkg/api"
)

// badWorker is a bundle that can be unpacked and cannot be run.
type badWorker struct {
	manifest bundle.Manifest
	files    map[string]string // by path in the bundle; a worker that would do, without index.js
	token    string            // the value of TOKEN; "" for any
	step     string
	code     string
	words    []string
	logs     string // what its last lines say; "" for no matter what
}

// TestBadWorkers deploys workers that cannot start. Each version fails with the
// worker's own words, and its processes are gone by then.
// spec: [C4.12] [C7.17] [C7.18]
func TestBadWorkers(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_ORCH_WORKERS=3", "SVC_WORKER_START_TIMEOUT=60s", "SVC_WORKER_HEAP_MB=32")
	d.project("bad")
	t.Run("each", func(t *testing.T) {
		for name, tt := range badWorkers() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d := d.on(t)
				if tt.files == nil {
					tt.files = map[string]string{"modules/index.js": helloScript}
				}
				token := cmp.Or(tt.token, "hunter2-secret")
				d.push("bad", api.CreateVersion{ID: name, Env: map[string]string{"TOKEN": token}}, bundled(t, tt.manifest, tt.files))
				d.unleaked(d.failed("bad", name, tt.step, tt.code, tt.words...), token)
				d.logged("bad", name, tt.logs)
			})
		}
	})
	d.idle()
	d.livesOn()
}

// TestNeverListens deploys a worker that keeps the processor for itself. The
// start ends after SVC_WORKER_START_TIMEOUT, and so does the loop.
// spec: [C7.17]
func TestNeverListens(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_WORKER_START_TIMEOUT=1500ms")
	d.project("bad")
	d.push("bad", api.CreateVersion{ID: "loops"}, script(t, "console.log('about to loop');\nfor (;;);"))
	d.failed("bad", "loops", "deploying", "startup_timeout", "within 1.5s", "a loop or an await")
	d.logged("bad", "loops", "about to loop")
	d.idle()
}

// unleaked checks that nothing told of a version holds the beginning of a line
// of its token.
func (d *daemon) unleaked(v api.Version, token string) {
	d.t.Helper()
	told, err := json.Marshal([]any{v.Error, v.ErrorOutput, v.Timeline}) // the variables are in the record, for those who may read it
	if err != nil {
		d.t.Fatal(err)
	}
	host, err := os.ReadFile(filepath.Join(d.dataDir(), "logs", v.ProjectID, v.ID, "host.log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.t.Fatal(err)
	}
	for line := range strings.Lines(token) {
		if len(line) < 8 {
			continue
		}
		for where, text := range map[string]string{"record": string(told), "daemon's log": d.log.String(), "host's log": string(host)} {
			if strings.Contains(text, line[:8]) {
				d.t.Errorf("%s: a secret is in the %s", v.ID, where)
			}
		}
	}
}

// logged checks that the last lines of a version hold a text.
func (d *daemon) logged(project, version, want string) {
	d.t.Helper()
	lines, err := d.client().Logs(d.t.Context(), project, version, 50)
	if err != nil {
		d.t.Fatal(err)
	}
	var all strings.Builder
	for _, l := range lines {
		all.WriteString(l.Message + "\n")
	}
	if !strings.Contains(all.String(), want) {
		d.t.Errorf("%q is missing in the log:\n%s", want, all.String())
	}
}

// leaking is a worker that prints its token in every answer.
const leaking = `import { env } from 'cloudflare:workers';
console.log('a string', env.TOKEN);
console.log('an object', { TOKEN: env.TOKEN });
console.log('JSON', JSON.stringify(env));
console.error(new Error('an error ' + env.TOKEN));
throw new Error('cannot log in with ' + env.TOKEN);`

func code(source string) map[string]string { return map[string]string{"modules/index.js": source} }

func badWorkers() map[string]badWorker {
	all := map[string]badWorker{
		"throws": {
			files: code("console.log('about to fail');\nthrow new Error('boom at load');"),
			code:  "startup_exception", words: []string{"Error: boom at load", "index.js:2"}, logs: "boom at load",
		},
		"rejects": {
			files: code("await Promise.reject(new TypeError('no database'));"),
			code:  "startup_exception", words: []string{"TypeError: no database"},
		},
		"leaks": {
			files: code("import { env } from 'cloudflare:workers';\nthrow new Error('cannot log in with ' + env.TOKEN);"),
			code:  "startup_exception", words: []string{"cannot log in with [redacted]"},
		},
		"leaks-lines": {
			files: code(leaking), token: "line-one-of-the-key\nline-two-of-the-key",
			code: "startup_exception", words: []string{"cannot log in with [redacted]", "log: a string [redacted]", "log: an object { TOKEN: "},
			logs: "***TOKEN***",
		},
		"leaks-long": {
			files: code(leaking), token: strings.Repeat("one-kilobyte/", 80),
			code: "startup_exception", words: []string{"cannot log in with [redacted]", "log: a string [redacted]", "\"TOKEN\":\"[redacted]\","},
			logs: "***TOKEN***",
		},
		"leaks-longest": {
			files: code(leaking), token: strings.Repeat("eight-kib \"\n\\ \n\t", 8192/16),
			code: "startup_exception", words: []string{"cannot log in with [redacted]", "log: a string [redacted]", "\"TOKEN\":\"[redacted]"},
		},
		"never-settles": {
			files: code("await new Promise(() => {});"), code: "startup_exception", words: []string{"Top-level await", "unsettled"},
		},
		"eats-memory": {
			files: code("const a = []; for (;;) a.push(new Array(1000).fill({}));"), code: "out_of_memory", words: []string{"ran out of memory"},
		},
		"no-handler": {
			files: code("export default 42;"), code: "startup_exception",
		},
		"syntax": {
			files: code("export default {\n  fetch( { return 1 } }"), code: "syntax_error", words: []string{"SyntaxError", "index.js:2"},
		},
		"no-module": {
			files: code("import './nope.js'; export default {}"), code: "module_missing", words: []string{"nope.js"},
		},
		"bad-wasm": {
			manifest: bundle.Manifest{Modules: []bundle.Module{{Name: "x.wasm", Type: bundle.Wasm}}},
			files:    map[string]string{"modules/index.js": "import x from './x.wasm'; export default {}", "modules/x.wasm": "not wasm"},
			code:     "startup_exception",
		},
	}
	for name, tt := range all {
		tt.step = "deploying"
		all[name] = tt
	}
	for name, tt := range unpreparable() {
		tt.step = "preparing"
		all[name] = tt
	}
	return all
}

// unpreparable workers are refused before workerd starts.
func unpreparable() map[string]badWorker {
	flags := func(list ...string) bundle.Manifest { return bundle.Manifest{CompatibilityFlags: list} }
	migration := bundle.Manifest{
		Bindings:   []bundle.Binding{{Name: "DB", Kind: "database", Resource: "db"}},
		Migrations: []bundle.Migrations{{Binding: "DB", Table: "d1_migrations", Files: []bundle.File{{Path: "migrations/DB/0001_a.sql"}, {Path: "migrations/DB/0002_b.sql"}}}},
	}
	sql := func(second string) map[string]string {
		return map[string]string{
			"modules/index.js": helloScript, "migrations/DB/0001_a.sql": "CREATE TABLE a (x);", "migrations/DB/0002_b.sql": second,
		}
	}
	return map[string]badWorker{
		"date-future":   {manifest: bundle.Manifest{CompatibilityDate: "2999-12-31"}, code: "compat_date_future", words: []string{"2999-12-31", "use 2026-11-"}},
		"date-newer":    {manifest: bundle.Manifest{CompatibilityDate: "2026-11-25"}, code: "compat_date_future", words: []string{"2026-11-25", "too new"}},
		"flag-unknown":  {manifest: flags("nodejs_compatt"), code: "compat_flag_unknown", words: []string{`"nodejs_compatt"`, "check its spelling"}},
		"flag-future":   {manifest: flags("experimental"), code: "compat_flag_experimental", words: []string{`"experimental"`, "remove it"}},
		"flag-binding":  {manifest: flags("kv_direct_binding"), code: "compat_flag_experimental", words: []string{`"kv_direct_binding"`, "break bindings"}},
		"flag-d1":       {manifest: flags("d1_binding_jsrpc"), code: "compat_flag_experimental", words: []string{`"d1_binding_jsrpc"`, "break bindings"}},
		"flag-python":   {manifest: flags("python_workers"), code: "compat_flag_unsupported", words: []string{"Python workers do not run here"}},
		"flag-conflict": {manifest: flags("url_standard", "url_original"), code: "compat_flag_conflict", words: []string{"url_standard", "url_original", "keep one"}},
		"kind": {
			manifest: bundle.Manifest{Bindings: []bundle.Binding{{Name: "V", Kind: "vectorize"}}},
			code:     "invalid_bindings", words: []string{`"V"`, `"vectorize"`, "ai, analytics_engine, cron, database, durable_object"},
		},
		"migration-syntax": {
			manifest: migration, files: sql("CREATE TABLE b (x);\n\nCRATE TABLE c (x);"), code: "migration_failed",
			words: []string{"0002_b.sql of DB", "line 3", `near "CRATE": syntax error`, "CRATE TABLE c (x)", "correct it and deploy again"},
		},
		"migration-fails": {
			manifest: migration, files: sql("INSERT INTO absent VALUES (1);"), code: "migration_table_missing",
			words: []string{"0002_b.sql of DB", "line 1", "no such table: absent"},
		},
		"migration-transaction": {
			manifest: migration, files: sql("BEGIN TRANSACTION; CREATE TABLE b (x); COMMIT;"), code: "migration_failed",
			words: []string{"0002_b.sql of DB", "BEGIN TRANSACTION"},
		},
		"migration-attach": {
			manifest: migration, files: sql("ATTACH DATABASE '/tmp/escaped.db' AS x;"), code: "migration_failed",
			words: []string{"0002_b.sql of DB", "line 1"},
		},
	}
}

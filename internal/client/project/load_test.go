package project_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

const everythingJSONC = `// the guestbook
{
  "$schema": "node_modules/wrangler/config-schema.json",
  "name": "guestbook",
  "main": "src/index.ts",
  "compatibility_date": "2026-11-01",
  "compatibility_flags": ["nodejs_compat"],
  "vars": { "GREETING": "hello", "FLAGS": { "beta": true, "n": 12345678901234567890 }, "COUNT": 3, },
  "kv_namespaces": [
    { "binding": "CACHE" },
    { "binding": "USERS", "id": "0f2ac74b498b48028cb68387c421e279", "preview_id": "x" },
  ],
  "d1_databases": [
    { "binding": "DB", "database_name": "guests", "database_id": "1234", "migrations_dir": "./db/sql", "migrations_table": "m" },
    { "binding": "LOG", "database_id": "5678", "migrations_dir": "drizzle", "migrations_pattern": "drizzle/*/migration.sql" },
    { "binding": "PLAIN" },
  ],
  "version_metadata": { "binding": "VERSION" },
  "rules": [{ "type": "Text", "globs": ["**/*.md"], "fallthrough": true }],
  "build": { "command": "npm run build", "cwd": "build", "watch_dir": ["src", "lib"] },
  "define": { "DEBUG": "false" },
  "alias": { "foo": "./src/foo.ts" },
  "minify": true,
  "keep_names": false,
  "tsconfig": "tsconfig.worker.json",
  "jsx_factory": "h",
  "jsx_fragment": "Fragment",
  "upload_source_maps": false,
  "base_dir": ".",
  "observability": { "enabled": true },
  "limits": { "cpu_ms": 50, "memory_mb": 256, "subrequests": 50 },
  "routes": [{ "pattern": "example.com/*", "zone_name": "example.com" }],
  "workers_dev": false,
  "r2_buckets": [
    { "binding": "FILES", "bucket_name": "files", "preview_bucket_name": "x" },
    { "binding": "PLAIN_FILES", },
  ],
  "queues": {
    "producers": [{ "binding": "JOBS", "queue": "jobs", "delivery_delay": 5, "remote": true }, { "binding": "DEAD", "queue": "dead" }],
    "consumers": [
      { "queue": "jobs", "max_batch_size": 100, "max_batch_timeout": 0, "max_retries": 0, "retry_delay": 7, "dead_letter_queue": "dead", "max_concurrency": 2 },
      { "queue": "dead", "type": "worker" },
    ],
  },
  "triggers": { "crons": [] }, "ai": {},
}
`

const everythingTOML = `# the guestbook
name = "guestbook"
main = "src/index.ts"
compatibility_date = "2026-11-01"
compatibility_flags = ["nodejs_compat"]
minify = true
keep_names = false
tsconfig = "tsconfig.worker.json"
jsx_factory = "h"
jsx_fragment = "Fragment"
upload_source_maps = false
base_dir = "."
workers_dev = false
routes = [{ pattern = "example.com/*", zone_name = "example.com" }]
version_metadata = { binding = "VERSION" }
kv_namespaces = [
  { binding = "CACHE" }, # local
  { binding = "USERS", id = "0f2ac74b498b48028cb68387c421e279", preview_id = "x" },
]

[vars]
GREETING = "hello"
FLAGS = { beta = true, n = 123456789012345678 }
COUNT = 3

[[d1_databases]]
binding = "DB"
database_name = "guests"
database_id = "1234"
migrations_dir = "./db/sql"
migrations_table = "m"

[[d1_databases]]
binding = "LOG"
database_id = "5678"
migrations_dir = "drizzle"
migrations_pattern = "drizzle/*/migration.sql"

[[d1_databases]]
binding = "PLAIN"

[[queues.producers]]
binding = "JOBS"
queue = "jobs"
delivery_delay = 5
remote = true

[[queues.producers]]
binding = "DEAD"
queue = "dead"

[[queues.consumers]]
queue = "jobs"
max_batch_size = 100
max_batch_timeout = 0
max_retries = 0
retry_delay = 7
dead_letter_queue = "dead"
max_concurrency = 2

[[queues.consumers]]
queue = "dead"

[[r2_buckets]]
binding = "FILES"
bucket_name = "files"
preview_bucket_name = "x"

[[r2_buckets]]
binding = "PLAIN_FILES"

[[rules]]
type = "Text"
globs = ["**/*.md"]
fallthrough = true

[build]
command = "npm run build"
cwd = "build"
watch_dir = ["src", "lib"]

[define]
DEBUG = "false"

[alias]
foo = "./src/foo.ts"

[observability]
enabled = true

[limits]
cpu_ms = 50
memory_mb = 256
subrequests = 50
`

func everything(t *testing.T, path, flags string) *project.File {
	t.Helper()
	dir := filepath.Dir(path)
	in := func(p string) string { return filepath.Join(dir, p) }
	raw := func(s string) bundle.Var {
		v, err := bundle.JSONVar(json.RawMessage(s))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	return &project.File{
		Path: path, Dir: dir, Root: dir, Name: "guestbook", WorkerName: "guestbook", Main: in("src/index.ts"),
		CompatibilityDate: "2026-11-01", CompatibilityFlags: []string{"nodejs_compat"},
		Vars: map[string]bundle.Var{"GREETING": bundle.TextVar("hello"), "COUNT": raw("3"), "FLAGS": raw(flags)},
		KV:   []project.KV{{Binding: "CACHE"}, {Binding: "USERS", ID: "0f2ac74b498b48028cb68387c421e279"}},
		Databases: []project.Database{
			{Binding: "DB", Name: "guests", ID: "1234", MigrationsDir: in("db/sql"), MigrationsPattern: "*.sql", MigrationsTable: "m"},
			{Binding: "LOG", ID: "5678", MigrationsDir: in("drizzle"), MigrationsPattern: "*/migration.sql", MigrationsTable: "d1_migrations"},
			{Binding: "PLAIN", MigrationsDir: in("migrations"), MigrationsPattern: "*.sql", MigrationsTable: "d1_migrations"},
		},
		Buckets:   []project.Bucket{{Binding: "FILES", Name: "files"}, {Binding: "PLAIN_FILES"}},
		Producers: []project.Producer{{Binding: "JOBS", Queue: "jobs", DeliveryDelay: 5}, {Binding: "DEAD", Queue: "dead"}},
		Consumers: []bundle.QueueConsumer{
			{Queue: "jobs", MaxBatchSize: new(100), MaxBatchTimeout: new(0), MaxRetries: new(0), RetryDelay: new(7), DeadLetterQueue: "dead", MaxConcurrency: new(2)},
			{Queue: "dead"},
		},
		VersionMetadata: "VERSION", MemoryMB: 256, Subrequests: 50,
		Bundling: project.Bundling{
			BaseDir: dir, Rules: []project.Rule{{Type: "Text", Globs: []string{"**/*.md"}, Fallthrough: true}},
			Define: map[string]string{"DEBUG": "false"}, Alias: map[string]string{"foo": "./src/foo.ts"},
			Minify: true, TSConfig: in("tsconfig.worker.json"), JSXFactory: "h", JSXFragment: "Fragment",
		},
		Build: project.Build{Command: "npm run build", Dir: in("build"), WatchDirs: []string{in("src"), in("lib")}},
	}
}

func TestLoadEverything(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, flags string }{
		{"wrangler.jsonc", everythingJSONC, `{"beta":true,"n":12345678901234567890}`},
		{"wrangler.toml", everythingTOML, `{"beta":true,"n":123456789012345678}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := svctest.Files(t, map[string]string{test.name: test.text})
			f, notices, err := project.Load(dir, project.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := everything(t, filepath.Join(dir, test.name), test.flags)
			if diff := cmp.Diff(want, f, cmpopts.IgnoreUnexported(project.Database{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(notices) != 1 || notices[0].Level != project.Info {
				t.Fatalf("notices: %v", notices)
			}
			for _, key := range []string{"observability", "limits.cpu_ms", "routes", "kv_namespaces[1].preview_id", "r2_buckets[0].preview_bucket_name", "queues.producers[0].remote"} {
				if !strings.Contains(notices[0].Text, key) {
					t.Errorf("%q does not name %s", notices[0], key)
				}
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{"wrangler.json": `{"main": "w.js", "compatibility_date": "2026-01-01"}`})
	f, notices, err := project.Load(dir, project.Options{})
	if err != nil || len(notices) != 0 {
		t.Fatal(notices, err)
	}
	want := &project.File{
		Path: filepath.Join(dir, "wrangler.json"), Dir: dir, Root: dir, Main: filepath.Join(dir, "w.js"), CompatibilityDate: "2026-01-01",
		Bundling: project.Bundling{BaseDir: dir, KeepNames: true, UploadSourceMaps: true},
		Build:    project.Build{Dir: dir},
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCommandLineWins: the entry module, the date and the flags of the command line.
func TestCommandLineWins(t *testing.T) {
	t.Parallel()
	const file = `{"name": "app", "main": "w.js", "compatibility_date": "2026-01-01", "compatibility_flags": ["a"]}`
	dir := svctest.Files(t, map[string]string{"app/wrangler.json": file, "app/src/other.js": "", "app/w.js": "", "loose/w.js": ""})
	in := func(p string) string { return filepath.Join(dir, p) }
	flags := project.Options{Entry: in("app/src/other.js"), CompatibilityDate: "2026-02-02", CompatibilityFlags: []string{"b", "c"}}
	f, notices, err := project.Load(dir, flags)
	if err != nil || len(notices) != 0 {
		t.Fatal(notices, err)
	}
	if f.Main != flags.Entry || f.Path != in("app/wrangler.json") || f.CompatibilityDate != "2026-02-02" || strings.Join(f.CompatibilityFlags, " ") != "b c" ||
		f.Bundling.BaseDir != in("app/src") {
		t.Errorf("got %+v", f)
	}
	f, notices, err = project.Load(dir, project.Options{Entry: in("loose/w.js"), CompatibilityDate: "2026-02-02"})
	if err != nil || len(notices) != 0 || f.Path != "" || f.Name != "" || f.Root != in("loose") || f.Main != in("loose/w.js") {
		t.Errorf("without a project file: %+v, %v, %v", f, notices, err)
	}
	if _, _, err = project.Load(dir, project.Options{Entry: in("loose/w.js")}); svc.CodeOf(err) != "config_invalid" || !strings.Contains(err.Error(), "--compatibility-date") {
		t.Errorf("without a date: %v", err)
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	const head = `{"main": "w.js", "compatibility_date": "2026-01-01", `
	dir := svctest.Files(t, map[string]string{"wrangler.json": head + "\n" + `"secrets": {"required": ["API_KEY", "TOKEN"]}, "env": {"staging": {}}}`})
	f, _, err := project.Load(dir, project.Options{})
	want := []project.Secret{{Name: "API_KEY", At: "wrangler.json:2:26"}, {Name: "TOKEN", At: "wrangler.json:2:37"}}
	if diff := cmp.Diff(want, f.Secrets); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if f, _, err = project.Load(dir, project.Options{Env: "staging"}); err != nil || len(f.Secrets) != 0 {
		t.Errorf("an environment inherits them: %v, %v", f.Secrets, err)
	}
	dir = svctest.Files(t, map[string]string{"wrangler.json": head + `"secrets": {"required": "API_KEY"}}`})
	if _, _, err = project.Load(dir, project.Options{}); svc.CodeOf(err) != "config_invalid" {
		t.Errorf("got %v", err)
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ got, want string }{
		{project.KV{Binding: "A", ID: "1"}.Resource(), "1"},
		{project.KV{Binding: "A"}.Resource(), "A"},
		{project.Bucket{Binding: "A", Name: "n"}.Resource(), "n"},
		{project.Bucket{Binding: "A"}.Resource(), "A"},
		{project.Database{Binding: "A", Name: "n", ID: "1"}.Resource(), "n"},
		{project.Database{Binding: "A", ID: "1"}.Resource(), "1"},
		{project.Database{Binding: "A"}.Resource(), "A"},
	} {
		if test.got != test.want {
			t.Errorf("resource %q, want %q", test.got, test.want)
		}
	}
}

func TestFinding(t *testing.T) {
	t.Parallel()
	const file = `{"main": "w.js", "compatibility_date": "2026-01-01", "name": "%"}`
	named := func(name string) string { return strings.ReplaceAll(file, "%", name) }
	tomlFile := "name = \"toml\"\nmain = \"w.js\"\ncompatibility_date = 2026-01-01\n"
	for _, test := range []struct {
		name   string
		files  map[string]string
		in     string
		config string
		want   string // the name, or the code of an error
		notice string
	}{
		{"nearest wins", map[string]string{"wrangler.json": named("top"), "a/wrangler.toml": tomlFile, "a/b/x": ""}, "a/b", "", "toml", ""},
		{"above", map[string]string{"wrangler.jsonc": named("top"), "a/b/x": ""}, "a/b", "", "top", ""},
		{"json before jsonc", map[string]string{"wrangler.json": named("json"), "wrangler.jsonc": named("jsonc")}, "", "", "json", "2 project files; wrangler.json is used"},
		{"jsonc before toml", map[string]string{"wrangler.jsonc": named("jsonc"), "wrangler.toml": tomlFile}, "", "", "jsonc", "2 project files"},
		{"named", map[string]string{"wrangler.json": named("json"), "other.jsonc": named("other")}, "", "other.jsonc", "other", ""},
		{"named and absent", map[string]string{"wrangler.json": named("json")}, "", "other.jsonc", "config_not_found", ""},
		{"none", map[string]string{"x": ""}, "", "", "config_not_found", ""},
		{"redirected", map[string]string{
			"wrangler.json": named("user"), "dist/w/wrangler.json": named("built"),
			".wrangler/deploy/config.json": `{"configPath": "../../dist/w/wrangler.json", "auxiliaryWorkers": []}`,
		}, "", "", "built", "used in place"},
		{"redirected to nothing", map[string]string{
			"wrangler.json": named("user"), ".wrangler/deploy/config.json": `{"configPath": "../../dist/w/wrangler.json"}`,
		}, "", "", "config_not_found", ""},
		{"redirected badly", map[string]string{"wrangler.json": named("user"), ".wrangler/deploy/config.json": `{}`}, "", "", "config_invalid", ""},
		{"byte order mark", map[string]string{"wrangler.json": "\ufeff" + named("bom")}, "", "", "bom", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := svctest.Files(t, test.files)
			f, notices, err := project.Load(filepath.Join(dir, test.in), project.Options{Config: test.config})
			if err != nil {
				if svc.CodeOf(err) != test.want {
					t.Fatalf("got %v, want %s", err, test.want)
				}
				return
			}
			if f.Name != test.want {
				t.Errorf("got the file of %q, want %q", f.Name, test.want)
			}
			text := ""
			for _, n := range notices {
				text += n.String() + "\n"
			}
			if !strings.Contains(text, test.notice) || test.notice == "" && text != "" {
				t.Errorf("notices %q, want %q", text, test.notice)
			}
		})
	}
}

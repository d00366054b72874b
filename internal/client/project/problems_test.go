package project_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestProblems(t *testing.T) {
	t.Parallel()
	head := "{\n\"main\": \"w.js\", \"compatibility_date\": \"2026-01-01\",\n"
	headTOML := "main = \"w.js\"\ncompatibility_date = \"2026-01-01\"\n"
	const jsonc, toml = "wrangler.jsonc", "wrangler.toml"
	for _, test := range []struct {
		name, file, text string
		code             string
		want             string
	}{
		{"certificate", jsonc, head + `  "mtls_certificates": [{"binding": "B"}]}`, "config_unsupported", "wrangler.jsonc:3:3: mtls_certificates is not supported"},
		{"certificate in toml", toml, headTOML + "\n[[mtls_certificates]]\nbinding = \"B\"\n", "config_unsupported", "wrangler.toml:4:3: mtls_certificates is not supported"},
		{"mail without name", jsonc, head + `"send_email": [{"binding": "B"}]}`, "config_invalid", `send_email[0] has no "name"`},
		{"secret without name", jsonc, head + `"secrets_store_secrets": [{"binding": "B", "secretname": "x"}]}`, "config_invalid", `secrets_store_secrets[0] has no "secret_name"; did you mean "secret_name" by "secretname"?`},
		{"workflow without class", jsonc, head + `"workflows": [{"binding": "B", "name": "flow", "className": "Flow"}]}`, "config_invalid", `workflows[0] has no "class_name"; did you mean "class_name" by "className"?`},
		{"workflow of another worker", jsonc, head + `"workflows": [{"binding": "B", "name": "flow", "class_name": "Flow", "script_name": "x"}]}`, "config_unsupported", "workflows[0].script_name is not supported"},
		{"name of a workflow", jsonc, head + `"workflows": [{"binding": "B", "name": "-a b", "class_name": "Flow"}]}`, "config_invalid", `workflows[0].name is "-a b"`},
		{"two classes of a workflow", jsonc, head + `"workflows": [{"binding": "A", "name": "f", "class_name": "X"}, {"binding": "B", "name": "f", "class_name": "Y"}]}`, "config_invalid", `workflows[1] gives the workflow "f" the class Y; another entry gives it X`},
		{"cron", jsonc, head + "\"triggers\": {\"crons\": [\"* * * * *\",\n\"* * * * 0\"]}}", "config_invalid", `wrangler.jsonc:4:1: triggers.crons[1]: cron expression "* * * * 0": the day of week field: 0 is not a day: days are 1 (Sunday)`},
		{"crons are no list", toml, headTOML + "[triggers]\ncrons = \"* * * * *\"\n", "config_invalid", "triggers.crons is a string and must be"},
		{"assets without directory", jsonc, head + `"assets": {"dir": "public"}}`, "config_invalid", `:3:11: assets has no "directory"`},
		{"mode of assets", jsonc, head + `"assets": {"directory": "public", "html_handling": "auto"}}`, "config_invalid", `assets.html_handling is "auto"; the values are auto-trailing-slash`},
		{"pattern of assets", jsonc, head + `"assets": {"directory": "public", "run_worker_first": ["/a", "api/*"]}}`, "config_invalid", `pattern "api/*", which begins neither`},
		{"binding of assets alone", jsonc, `{"compatibility_date": "2026-01-01", "assets": {"directory": "public", "binding": "A"}}`, "config_invalid", `assets.binding needs a worker`},
		{"no worker first", jsonc, `{"compatibility_date": "2026-01-01", "assets": {"directory": "public", "run_worker_first": true}}`, "config_invalid", `assets.run_worker_first needs a worker`},
		{"binding of assets twice", jsonc, head + `"vars": {"A": 1}, "assets": {"directory": "public", "binding": "A"}}`, "config_invalid", `"A" is bound by`},
		{"browser", toml, headTOML + "[browser]\nbinding = \"B\"\n", "config_unsupported", "wrangler.toml:3:2: browser is not supported: it is a service of Cloudflare's platform"},
		{"two consumers", jsonc, head + `"queues": {"consumers": [{"queue": "q"}, {"queue": "q"}]}}`, "config_invalid", `queues.consumers[1] is a second consumer of the queue "q", and a queue has one`},
		{"its own dead letters", jsonc, head + `"queues": {"consumers": [{"queue": "q", "dead_letter_queue": "q"}]}}`, "config_invalid", `the queue "q" is its own dead letter queue`},
		{"pulled queue", jsonc, head + `"queues": {"consumers": [{"queue": "q", "type": "http_pull"}]}}`, "config_unsupported", "queues.consumers[0] is of type http_pull, which is not supported"},
		{"queue without name", jsonc, head + `"queues": {"producers": [{"binding": "Q", "queu": "q"}]}}`, "config_invalid", `queues.producers[0] has no "queue"; did you mean "queue" by "queu"?`},
		{"odd queue", jsonc, head + `"queues": {"producers": [{"binding": "Q", "queue": "a b"}]}}`, "config_invalid", `queues.producers[0].queue is "a b"; the name of a queue has 1 to 63 letters`},
		{"large batch", jsonc, head + `"queues": {"consumers": [{"queue": "q", "max_batch_size": 101}]}}`, "config_invalid", `queues.consumers[0].max_batch_size is 101 and must be a whole number from 1 to 100`},
		{"half a second", jsonc, head + `"queues": {"consumers": [{"queue": "q", "max_batch_timeout": 0.5}]}}`, "config_invalid", `max_batch_timeout is 0.5 and must be a whole number from 0 to 60`},
		{"its own tail", jsonc, `{"name": "x", "main": "w.js", "compatibility_date": "2026-01-01", "tail_consumers": [{"service": "x"}]}`, "config_unsupported", "tail_consumers[0] names the worker itself"},
		{"tail without service", jsonc, head + `"tail_consumers": [{"servic": "x"}]}`, "config_invalid", `tail_consumers[0] has no "service"; did you mean "service" by "servic"?`},
		{"object without class", jsonc, head + `"durable_objects": {"bindings": [{"name": "R", "class": "Room"}]}}`, "config_invalid", `has no "class_name"`},
		{"class twice", jsonc, head + `"migrations": [{"new_classes": ["A"]}, {"new_sqlite_classes": ["A"]}]}`, "config_invalid", `creates the class "A", which an earlier`},
		{"unknown class", jsonc, head + `"migrations": [{"deleted_classes": ["A"]}]}`, "config_invalid", `names the class "A", which no earlier`},
		{"transfer", jsonc, head + `"migrations": [{"transferred_classes": [{"from": "A"}]}]}`, "config_unsupported", "transferred_classes is not supported"},
		{"rate limit without namespace", jsonc, head + `"ratelimits": [{"name": "L", "simple": {"limit": 1, "period": 10}}]}`, "config_invalid", `ratelimits[0] must have "namespace_id" and "simple"`},
		{"rate limit of a day", jsonc, head + `"ratelimits": [{"name": "L", "namespace_id": "1", "simple": {"limit": 1, "period": 86400}}]}`, "config_invalid", `a period of 10 or 60 seconds`},
		{"rate limit without name", jsonc, head + `"unsafe": {"bindings": [{"type": "ratelimit", "namespace_id": "1", "simple": {"limit": 1, "period": 10}}]}}`, "config_invalid", `unsafe.bindings[0] has no "name"`},
		{"other unsafe bindings", jsonc, head + `"unsafe": {"bindings": [{"type": "ratelimit", "name": "L"}, {"type": "x", "name": "X"}]}}`, "config_unsupported", `unsafe is not supported`},
		{"python", jsonc, `{"main": "w.py", "compatibility_date": "2026-01-01"}`, "config_unsupported", "wrangler.jsonc:1:10: main is Python"},
		{"typo in a binding's name", jsonc, head + `"d1_databases": [{"bnding": "DB"}]}`, "config_invalid", `d1_databases[0] has no "binding"; did you mean "binding" by "bnding"?`},
		{"typo in main", jsonc, `{"mian": "w.js", "compatibility_date": "2026-01-01"}`, "config_invalid", `main is missing: it names the file of the worker's entry module; did you mean "main" by "mian"?`},
		{"typo in the date", jsonc, `{"main": "w.js", "compatability_date": "2026-01-01"}`, "config_invalid", `did you mean "compatibility_date" by "compatability_date"?`}, //nolint:misspell // the typo is the case
		{"no main", jsonc, `{"compatibility_date": "2026-01-01"}`, "config_invalid", "main is missing"},
		{"no date", jsonc, `{"main": "w.js"}`, "config_invalid", "compatibility_date is missing"},
		{"wrong type", jsonc, head + `"minify": "yes"}`, "config_invalid", "wrangler.jsonc:3:11: minify is a string and must be true or false"},
		{"wrong item", jsonc, head + `"compatibility_flags": ["a", 1]}`, "config_invalid", ":3:30: compatibility_flags[1] is a number and must be a string"},
		{"binding without name", jsonc, head + `"kv_namespaces": [{"id": "x"}]}`, "config_invalid", `kv_namespaces[0] has no "binding"`},
		{"same name twice", jsonc, head + `"vars": {"A": 1}, "kv_namespaces": [{"binding": "A"}]}`, "config_invalid", `"A" is bound by vars as well`},
		{"rule type", jsonc, head + `"rules": [{"type": "Image", "globs": ["*"]}]}`, "config_invalid", `rules[0] has the type "Image"`},
		{"pattern without dir", jsonc, head + `"d1_databases": [{"binding": "DB", "migrations_pattern": "m/*.sql"}]}`, "config_invalid", "no migrations_dir"},
		{"pattern elsewhere", jsonc, head + `"d1_databases": [{"binding": "DB", "migrations_dir": "a", "migrations_pattern": "m/*.sql"}]}`, "config_invalid", `must begin with "a/"`},
		{"short bucket", jsonc, head + `"r2_buckets": [{"binding": "B", "bucket_name": "ab"}]}`, "config_invalid", `wrangler.jsonc:3:48: r2_buckets[0].bucket_name is "ab"; the name of a bucket has 3 to 63 lower-case letters`},
		{"long bucket", jsonc, head + `"r2_buckets": [{"binding": "B", "bucket_name": "` + strings.Repeat("a", 64) + `"}]}`, "config_invalid", "the name of a bucket has 3 to 63"},
		{"odd bucket", jsonc, head + `"r2_buckets": [{"binding": "B", "bucket_name": "My_Files"}]}`, "config_invalid", `bucket_name is "My_Files"`},
		{"hyphen of a bucket", jsonc, head + `"r2_buckets": [{"binding": "B", "bucket_name": "files-"}]}`, "config_invalid", `bucket_name is "files-"`},
		{"twice", jsonc, head + `"name": "a", "name": "b"}`, "config_invalid", `wrangler.jsonc:3:14: "name" is defined twice`},
		{"broken json", jsonc, head + `"name": }`, "config_invalid", "wrangler.jsonc:3:9: "},
		{"broken toml", toml, headTOML + "name = \n", "config_invalid", "wrangler.toml:3:"},
		{"twice in toml", toml, headTOML + "main = \"x\"\n", "config_invalid", "wrangler.toml:3:1: "},
		{"a list", jsonc, `[]`, "config_invalid", "wrangler.jsonc:1:1: the file is a list and must be an object"},
		{"empty file", jsonc, ``, "config_invalid", "wrangler.jsonc:1:1: "},
		{"several", jsonc, head + "\"minify\": 1,\n\"images\": {\"binding\": \"I\"},\n\"vectorize\": [{\"binding\": \"q\"}]}", "config_unsupported", "wrangler.jsonc has 3 problems"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := project.Load(svctest.Files(t, map[string]string{test.file: test.text}), project.Options{})
			if svc.CodeOf(err) != test.code || !errors.Is(err, svc.Unprocessable) {
				t.Fatalf("got %v, want the code %s", err, test.code)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// TestUnknownKeys: keys that are not known, and those of older wranglers, are one line
// each and change nothing.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	head := "{\n\"main\": \"w.js\", \"compatibility_date\": \"2026-01-01\",\n"
	headTOML := "main = \"w.js\"\ncompatibility_date = \"2026-01-01\"\n"
	const jsonc, toml = "wrangler.jsonc", "wrangler.toml"
	for _, test := range []struct{ name, file, text, want string }{
		{"typo", jsonc, head + `"kv_namespace": []}`, `wrangler.jsonc:3:1: unexpected field "kv_namespace" has no effect; did you mean "kv_namespaces"?`},
		{"nonsense", jsonc, head + `"zzzzqqqq": 1}`, `wrangler.jsonc:3:1: unexpected field "zzzzqqqq" has no effect`},
		{"typo in a binding", jsonc, head + `"d1_databases": [{"binding": "DB", "databasename": "x"}]}`, `wrangler.jsonc:3:36: unexpected field "d1_databases[0].databasename" has no effect; did you mean "database_name"?`},
		{"typo in toml", toml, headTOML + "[[kv_namespaces]]\nbinding = \"A\"\n[[kv_namespaces]]\nbinding = \"B\"\nidd = \"x\"\n", `wrangler.toml:7:1: unexpected field "kv_namespaces[1].idd" has no effect; did you mean "id"?`},
		{"typo in a table", toml, headTOML + "[build]\n  comand = \"x\"\n", `wrangler.toml:4:3: unexpected field "build.comand" has no effect; did you mean "command"?`},
		{"account_id", jsonc, head + `"account_id": "0f2a"}`, `wrangler.jsonc:3:1: account_id is retired: a server has no accounts; --server or SVCCTL_SERVER names the server`},
		{"zone_id", toml, headTOML + "zone_id = \"0f2a\"\n", `wrangler.toml:3:1: zone_id is retired: the server derives host names from its base domain`},
		{"type", toml, headTOML + "type = \"javascript\"\n", `wrangler.toml:3:1: type is retired: modules, JSX and TypeScript need no setting`},
		{"webpack_config", toml, headTOML + "webpack_config = \"w.js\"\n", `wrangler.toml:3:1: webpack_config is retired: esbuild bundles the worker; for another bundler set build.command`},
		{"node_compat", jsonc, head + `"node_compat": true}`, `wrangler.jsonc:3:1: node_compat is retired: add the compatibility flag nodejs_compat`},
		{"build.upload", toml, headTOML + "[build.upload]\nformat = \"modules\"\n", `wrangler.toml:3:8: build.upload is retired: main, rules and base_dir at the top level have its place`},
		{"kv-namespaces", toml, headTOML + "kv-namespaces = [{ binding = \"A\", id = \"1\" }]\n", `wrangler.toml:3:1: kv-namespaces is retired: write kv_namespaces`},
		{"legacy_env", jsonc, head + `"legacy_env": false, "usage_model": "bundled"}`, `wrangler.jsonc:3:22: usage_model is retired: limits has its place`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, notices, err := project.Load(svctest.Files(t, map[string]string{test.file: test.text}), project.Options{})
			if err != nil || len(notices) != 1 || notices[0].Level != project.Warning || notices[0].String() != test.want {
				t.Errorf("got  %v, %v\nwant %s", notices, err, test.want)
			}
		})
	}
}

const environments = `{
  "name": "app", "main": "src/w.js", "compatibility_date": "2026-01-01", "minify": true,
  "vars": { "A": "top", "B": "top" },
  "kv_namespaces": [{ "binding": "CACHE" }],
  "r2_buckets": [{ "binding": "FILES", "jurisdiction": "eu" }],
  "mtls_certificates": [{ "binding": "S" }],
  "alias": { "x": "./x.js" },
  "env": {
    "staging": {
      "vars": { "A": "staging" },
      "minify": false,
      "mtls_certificates": [],
      "routes": ["staging.example.com/*"]
    },
    "bare": {},
    "named": { "name": "other", "kv_namespaces": [{ "binding": "CACHE", "id": "1" }], "vars": { "A": "1", "B": "2" } },
    "wrong": { "keep_vars": true, "minify": "x", "images": { "binding": "I" } },
    "number": 7
  }
}`

func TestEnvironments(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{"wrangler.jsonc": environments})
	load := func(env string) (*project.File, string, error) {
		f, notices, err := project.Load(dir, project.Options{Env: env})
		text := ""
		for _, n := range notices {
			text += string(n.Level) + " " + n.String() + "\n"
		}
		return f, text, err
	}

	f, notices, err := load("staging")
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != "app-staging" || f.Bundling.Minify || len(f.Vars) != 1 || *f.Vars["A"].Text != "staging" || len(f.KV) != 0 {
		t.Errorf("staging: %+v", f)
	}
	if f.Bundling.Alias["x"] != "./x.js" || f.CompatibilityDate != "2026-01-01" {
		t.Errorf("staging did not inherit: %+v", f)
	}
	for _, want := range []string{`env.staging has no "B"`, `env.staging has no "CACHE"`, `env.staging has no "FILES"`, "no effect here: env.staging.routes"} {
		if !strings.Contains(notices, want) {
			t.Errorf("notices lack %q:\n%s", want, notices)
		}
	}
	if strings.Contains(notices, "mtls_certificates") {
		t.Errorf("an empty list counts as given:\n%s", notices)
	}

	if _, notices, err = load("bare"); err != nil || !strings.Contains(notices, "env.bare has no mtls_certificates") {
		t.Errorf("bare: %v\n%s", err, notices)
	}
	if f, notices, err = load("named"); err != nil || f.Name != "other" || f.KV[0].Resource() != "1" {
		t.Errorf("named: %+v, %v\n%s", f, err, notices)
	}
	if _, _, err = load("wrong"); svc.CodeOf(err) != "config_unsupported" || len(svc.AsError(err).Fields) != 3 {
		t.Errorf("wrong: %v", err)
	}
	if _, _, err = load("number"); svc.CodeOf(err) != "config_invalid" {
		t.Errorf("number: %v", err)
	}
	if _, _, err = load("prod"); svc.CodeOf(err) != "config_env_unknown" || !strings.Contains(err.Error(), "staging, bare, named") {
		t.Errorf("prod: %v", err)
	}
	// At the top level its own bucket is in effect, and refused.
	if _, notices, err = load(""); svc.CodeOf(err) != "config_unsupported" || !strings.Contains(notices, "--env") {
		t.Errorf("top: %v\n%s", err, notices)
	}
}

func TestGeneratedFile(t *testing.T) {
	t.Parallel()
	// What the Vite plugin writes: every key there is, most of them empty.
	dir := svctest.Files(t, map[string]string{"wrangler.json": `{"configPath":"/x/wrangler.jsonc","userConfigPath":"/x/wrangler.jsonc",
		"topLevelName":"app","definedEnvironments":["staging"],"targetEnvironment":"staging","legacy_env":true,
		"compatibility_date":"2026-01-01","compatibility_flags":["nodejs_compat"],"jsx_factory":"React.createElement","jsx_fragment":"React.Fragment",
		"rules":[{"type":"ESModule","globs":["**/*.js","**/*.mjs"]}],"name":"app-staging","main":"index.js","triggers":{},"assets":null,
		"vars":{},"durable_objects":{"bindings":[]},"workflows":[],"migrations":[],"exports":{},"kv_namespaces":[],"cloudchamber":{},"send_email":[],
		"queues":{"producers":[],"consumers":[]},"r2_buckets":[],"d1_databases":[],"vectorize":[],"hyperdrive":[],"services":[],"analytics_engine_datasets":[],
		"dispatch_namespaces":[],"mtls_certificates":[],"pipelines":[],"logfwdr":{"bindings":[]},"unsafe":{},"observability":{"enabled":true},
		"python_modules":{"exclude":["**/*.pyc"]},"dev":{"ip":"localhost","local_protocol":"http"},"no_bundle":true}`})
	f, _, err := project.Load(dir, project.Options{Env: "staging"})
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != "app-staging" || !f.Bundling.NoBundle || !f.Bundling.FindAdditional {
		t.Errorf("%+v", f)
	}
	if _, _, err := project.Load(dir, project.Options{Env: "prod"}); svc.CodeOf(err) != "config_env_unknown" {
		t.Errorf("another environment: %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(everythingJSONC, false)
	f.Add(environments, false)
	f.Add(everythingTOML, true)
	f.Add("[[a.b]]\n[a.b.c]\nd = [{e = 1}, 2]\n[[a.b]]\nc.d = 1979-05-27T07:32:00Z\n", true)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string, toml bool) {
		name := "wrangler.jsonc"
		if toml {
			name = "wrangler.toml"
		}
		err := project.Read(filepath.Join(dir, name), []byte(text))
		if svc.CodeOf(err) == "internal" {
			t.Fatal(err)
		}
	})
}

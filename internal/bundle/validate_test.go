package bundle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

type invalidCase struct {
	name         string
	pointer      string
	code         string
	schemaPasses bool // a JSON schema cannot express it
	edit         func(*bundle.Manifest)
}

// change applies the case to a valid manifest.
func (c invalidCase) change(t testing.TB) bundle.Manifest {
	t.Helper()
	_, packed := packSample(t)
	c.edit(&packed.Manifest)
	return packed.Manifest
}

func invalid() []invalidCase {
	const bad = "manifest_invalid"
	long := strings.Repeat("x", 129)
	return []invalidCase{
		{"old schema", "/schema_version", "manifest_version", false, func(m *bundle.Manifest) { m.SchemaVersion = 0 }},
		{"control in name", "/name", bad, false, func(m *bundle.Manifest) { m.Name = "a\nb" }},
		{"no subrequests", "/limits/subrequests", bad, false, func(m *bundle.Manifest) { m.Limits = &bundle.RuntimeLimits{Subrequests: -1} }},
		{"too little memory", "/limits/memory_mb", bad, false, func(m *bundle.Manifest) { m.Limits = &bundle.RuntimeLimits{MemoryMB: 63} }},
		{"check without a slash", "/release/check", bad, false, func(m *bundle.Manifest) { m.Release = &bundle.Release{Check: "up"} }},
		{"negative keep", "/release/assets_keep", bad, false, func(m *bundle.Manifest) { m.Release = &bundle.Release{AssetsKeep: new(-1)} }},
		{"too much to keep", "/release/assets_keep", bad, false, func(m *bundle.Manifest) { m.Release = &bundle.Release{AssetsKeep: new(21)} }},
		{"unknown guard", "/release/guard", bad, false, func(m *bundle.Manifest) { m.Release = &bundle.Release{Guard: "warn"} }},
		{"unknown cron", "/crons/1", bad, true, func(m *bundle.Manifest) { m.Crons = []string{"* * * * *", "* * * * 0"} }},
		{"cron twice", "/crons/1", bad, false, func(m *bundle.Manifest) { m.Crons = []string{"* * * * *", "* * * * *"} }},
		{"short cron", "/crons/0", bad, false, func(m *bundle.Manifest) { m.Crons = []string{"* * * *"} }},
		{"too many crons", "/crons", bad, false, func(m *bundle.Manifest) {
			for i := range bundle.MaxCrons + 1 {
				m.Crons = append(m.Crons, strconv.Itoa(i%60)+" "+strconv.Itoa(i/60)+" * * *")
			}
		}},
		{"no modules", "/modules", bad, false, func(m *bundle.Manifest) { m.Modules, m.SourceMaps = []bundle.Module{}, nil }},
		{"unknown type", "/modules/1/type", "module_type_unknown", false, func(m *bundle.Manifest) { m.Modules[1].Type = "python" }},
		{"no main", "/main", bad, false, func(m *bundle.Manifest) { m.Main = "" }},
		{"main is no module", "/main", bad, true, func(m *bundle.Manifest) { m.Main = "x.js" }},
		{"main is text", "/main", bad, true, func(m *bundle.Manifest) { m.Main = "ünïcode.txt" }},
		{"absolute module", "/modules/1/name", bad, false, func(m *bundle.Manifest) { m.Modules[1].Name = "/etc/passwd" }},
		{"module leaves", "/modules/1/name", bad, false, func(m *bundle.Manifest) { m.Modules[1].Name = "a/../../b" }},
		{"module with dot", "/modules/1/name", bad, false, func(m *bundle.Manifest) { m.Modules[1].Name = "./a.js" }},
		{"module with empty element", "/modules/1/name", bad, false, func(m *bundle.Manifest) { m.Modules[1].Name = "a//b" }},
		{"module with backslash", "/modules/1/name", bad, false, func(m *bundle.Manifest) { m.Modules[1].Name = `a\b` }},
		{"module as scheme", "/modules/1/name", bad, false, func(m *bundle.Manifest) { m.Modules[1].Name = "node:fs" }},
		{"module name too long", "/modules/1/name", bad, true, func(m *bundle.Manifest) { m.Modules[1].Name = strings.Repeat("x", 256) }},
		{"module twice", "/modules/2/name", bad, true, func(m *bundle.Manifest) { m.Modules[2] = m.Modules[1] }},
		{"module below a module", "/modules/2/name", bad, true, func(m *bundle.Manifest) { m.Modules[2].Name = "index.js/a.txt" }},
		{"hash in upper case", "/modules/0/sha256", bad, false, func(m *bundle.Manifest) { m.Modules[0].SHA256 = strings.Repeat("A", 64) }},
		{"negative size", "/modules/0/size", bad, false, func(m *bundle.Manifest) { m.Modules[0].Size = -1 }},
		{"no date", "/compatibility_date", bad, false, func(m *bundle.Manifest) { m.CompatibilityDate = "" }},
		{"date in words", "/compatibility_date", bad, false, func(m *bundle.Manifest) { m.CompatibilityDate = "today" }},
		{"impossible day", "/compatibility_date", bad, true, func(m *bundle.Manifest) { m.CompatibilityDate = "2026-02-30" }},
		{"flag in capitals", "/compatibility_flags/0", bad, false, func(m *bundle.Manifest) { m.CompatibilityFlags = []string{"NODE"} }},
		{"flag twice", "/compatibility_flags/1", bad, false, func(m *bundle.Manifest) { m.CompatibilityFlags = []string{"a", "a"} }},
		{"variable without name", "/vars/", bad, false, func(m *bundle.Manifest) { m.Vars[""] = bundle.TextVar("x") }},
		{"variable name too long", "/vars/" + long, bad, false, func(m *bundle.Manifest) { m.Vars[long] = bundle.TextVar("x") }},
		{"platform variable", "/vars/PROJECT_ID", "env_platform_key", true, func(m *bundle.Manifest) { m.Vars["PROJECT_ID"] = bundle.TextVar("x") }},
		{"reserved variable", "/vars/Svc_KEY", "env_reserved_key", true, func(m *bundle.Manifest) { m.Vars["Svc_KEY"] = bundle.TextVar("x") }},
		{"large variable", "/vars/A", "env_value_too_large", true, func(m *bundle.Manifest) { m.Vars["A"] = bundle.TextVar(strings.Repeat("x", 8193)) }},
		{"too many variables", "/vars", "env_too_many_keys", true, func(m *bundle.Manifest) {
			for i := range 65 {
				m.Vars["A"+strconv.Itoa(i)] = bundle.TextVar("x")
			}
		}},
		{"binding of two folders", "/bindings/0/name", bad, false, binding("a/b")},
		{"binding with a backslash", "/bindings/0/name", bad, false, binding(`a\b`)},
		{"binding above", "/bindings/0/name", bad, false, binding("..")},
		{"binding with a space at its end", "/bindings/0/name", bad, false, binding("a ")},
		{"binding of the platform", "/bindings/0/name", bad, false, binding("svc:files")},
		{"binding with a line break", "/bindings/0/name", bad, false, binding("a\nb")},
		{"binding without a name", "/bindings/0/name", bad, false, binding("")},
		{"binding name too long", "/bindings/0/name", bad, false, binding(long)},
		{"variable of the platform", "/vars/svc:files", bad, false, func(m *bundle.Manifest) { m.Vars["svc:files"] = bundle.TextVar("x") }},
		{"platform name", "/bindings/1/name", bad, false, func(m *bundle.Manifest) { m.Bindings[1].Name = "VERSION_ID"; m.Seeds = nil }},
		{"binding twice", "/bindings/1/name", bad, true, func(m *bundle.Manifest) { m.Bindings[1].Name = "DB"; m.Seeds = nil }},
		{"binding is a variable", "/bindings/1/name", bad, true, func(m *bundle.Manifest) { m.Bindings[1].Name = "GREETING"; m.Seeds = nil }},
		{"no kind", "/bindings/1/kind", bad, false, func(m *bundle.Manifest) { m.Bindings[1].Kind = "" }},
		{"resource with newline", "/bindings/1/resource", bad, false, func(m *bundle.Manifest) { m.Bindings[1].Resource = "a\r\nb" }},
		{"config is a list", "/bindings/1/config", bad, false, func(m *bundle.Manifest) { m.Bindings[1].Config = json.RawMessage(`[]`) }},
		{"seeds of nothing", "/seeds/1/binding", bad, true, func(m *bundle.Manifest) { m.Seeds[1].Binding = "X"; m.Seeds[1].Files = nil }},
		{"seeds twice", "/seeds/3/binding", bad, true, func(m *bundle.Manifest) {
			m.Seeds = append(m.Seeds, bundle.Seeds{Binding: "DB", Files: []bundle.File{}})
		}},
		{"seed elsewhere", "/seeds/1/files/0/path", bad, false, func(m *bundle.Manifest) { m.Seeds[1].Files[0].Path = "modules/x.jsonl" }},
		{"seed of another", "/seeds/1/files/0/path", bad, true, func(m *bundle.Manifest) { m.Seeds[1].Files[0].Path = "seed/KVX.jsonl" }},
		{"seed without extension", "/seeds/1/files/0/path", bad, false, func(m *bundle.Manifest) { m.Seeds[1].Files[0].Path = "seed/KV." }},
		{"seed below a dot", "/seeds/1/files/0/path", bad, true, func(m *bundle.Manifest) { m.Seeds[1].Files[0].Path = "seed/KV.x/y" }},
		{"seed leaves", "/seeds/0/files/0/path", bad, false, func(m *bundle.Manifest) { m.Seeds[0].Files[0].Path = "seed/DB/../x" }},
		{"seed without hash", "/seeds/0/files/0/sha256", bad, false, func(m *bundle.Manifest) { m.Seeds[0].Files[0].SHA256 = "" }},
		{"migrations of nothing", "/migrations/0/binding", bad, true, func(m *bundle.Manifest) { m.Migrations[0].Binding = "X"; m.Migrations[0].Files = nil }},
		{"migrations twice", "/migrations/1/binding", bad, true, func(m *bundle.Manifest) {
			m.Migrations = append(m.Migrations, bundle.Migrations{Binding: "DB", Table: "t", Files: []bundle.File{}})
		}},
		{"table name", "/migrations/0/table", bad, false, func(m *bundle.Manifest) { m.Migrations[0].Table = "a; drop table t" }},
		{"migration elsewhere", "/migrations/0/files/0/path", bad, true, func(m *bundle.Manifest) { m.Migrations[0].Files[0].Path = "modules/x.sql" }},
		{"migration leaves", "/migrations/0/files/0/path", bad, false, func(m *bundle.Manifest) { m.Migrations[0].Files[0].Path = "migrations/DB/../x" }},
		{"queue without name", "/queue_consumers/0/queue", bad, false, consumer(bundle.QueueConsumer{})},
		{"two consumers", "/queue_consumers/1/queue", bad, true, consumer(bundle.QueueConsumer{Queue: "a"}, bundle.QueueConsumer{Queue: "a"})},
		{"odd dead letter queue", "/queue_consumers/0/dead_letter_queue", bad, false, consumer(bundle.QueueConsumer{Queue: "a", DeadLetterQueue: "-"})},
		{"its own dead letters", "/queue_consumers/0/dead_letter_queue", bad, true, consumer(bundle.QueueConsumer{Queue: "a", DeadLetterQueue: "a"})},
		{"empty batch", "/queue_consumers/0/max_batch_size", bad, false, consumer(bundle.QueueConsumer{Queue: "a", MaxBatchSize: new(0)})},
		{"long retry delay", "/queue_consumers/0/retry_delay", bad, false, consumer(bundle.QueueConsumer{Queue: "a", RetryDelay: new(86401)})},
		{"html handling", "/assets/html_handling", bad, false, func(m *bundle.Manifest) { m.Assets.HTMLHandling = "auto" }},
		{"not found handling", "/assets/not_found_handling", bad, false, func(m *bundle.Manifest) { m.Assets.NotFoundHandling = "spa" }},
		{"assets bound as a variable", "/assets/binding", bad, true, func(m *bundle.Manifest) { m.Assets.Binding = "GREETING" }},
		{"assets bound twice", "/assets/binding", bad, true, func(m *bundle.Manifest) { m.Assets.Binding = "DB" }},
		{"assets bound to the platform", "/assets/binding", bad, false, func(m *bundle.Manifest) { m.Assets.Binding = "VERSION_ID" }},
		{"assets bound without worker", "/assets/binding", bad, true, func(m *bundle.Manifest) { withoutWorker(m); m.Assets.RunWorkerFirst = bundle.WorkerFirst{} }},
		{"no worker first", "/assets/run_worker_first", bad, true, func(m *bundle.Manifest) { withoutWorker(m); m.Assets.Binding = "" }},
		{"pattern without slash", "/assets/run_worker_first/0", bad, false, func(m *bundle.Manifest) { m.Assets.RunWorkerFirst.Patterns[0] = "api/*" }},
		{"redirect from a word", "/assets/redirects/0/from", bad, false, func(m *bundle.Manifest) { m.Assets.Redirects[0].From = "old" }},
		{"redirect to nothing", "/assets/redirects/0/to", bad, false, func(m *bundle.Manifest) { m.Assets.Redirects[0].To = "" }},
		{"rewrite to a host", "/assets/redirects/0/to", bad, true, func(m *bundle.Manifest) {
			m.Assets.Redirects[0] = bundle.Redirect{From: "/a", To: "https://x.example/", Status: 200}
		}},
		{"redirect status", "/assets/redirects/0/status", bad, false, func(m *bundle.Manifest) { m.Assets.Redirects[0].Status = 304 }},
		{"header path", "/assets/headers/0/path", bad, false, func(m *bundle.Manifest) { m.Assets.Headers[0].Path = "http://x.example/" }},
		{"header name", "/assets/headers/0", bad, false, func(m *bundle.Manifest) { m.Assets.Headers[0].Set[0].Name = "X A" }},
		{"header value", "/assets/headers/0/set", bad, false, func(m *bundle.Manifest) { m.Assets.Headers[0].Set[0].Value = "a\r\nb: c" }},
		{"asset elsewhere", "/assets/files/0/path", bad, false, func(m *bundle.Manifest) { m.Assets.Files[0].Path = "modules/x.png" }},
		{"map of nothing", "/source_maps/0/path", bad, true, func(m *bundle.Manifest) { m.SourceMaps[0].Path = "sourcemaps/x.js.map" }},
	}
}

// binding names the first binding.
func binding(name string) func(*bundle.Manifest) {
	return func(m *bundle.Manifest) { m.Bindings[0].Name, m.Migrations, m.Seeds = name, nil, nil }
}

// TestBindingNames: a name of a binding need not be an identifier.
func TestBindingNames(t *testing.T) {
	t.Parallel()
	accepts := schema(t)
	for _, name := range []string{"my-kv", "my kv", "2nd", "größe", "a.b", `say "hi"`, "a:b", "a~b?c#d%2F", strings.Repeat("x", 128)} {
		_, packed := packSample(t)
		m := packed.Manifest
		binding(name)(&m)
		m.Assets.Binding = "files of " + name[:min(len(name), 100)]
		if err := m.Validate(); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if err := accepts(m); err != nil {
			t.Errorf("%q does not match the schema: %v", name, err)
		}
	}
}

func consumer(list ...bundle.QueueConsumer) func(*bundle.Manifest) {
	return func(m *bundle.Manifest) { m.QueueConsumers = list }
}

// withoutWorker leaves the assets alone.
func withoutWorker(m *bundle.Manifest) {
	m.Main, m.Modules, m.SourceMaps = "", []bundle.Module{}, nil
}

// Assets need no worker.
func TestAssetsAlone(t *testing.T) {
	t.Parallel()
	m, files := sample(t)
	withoutWorker(&m)
	m.Assets = &bundle.Assets{Files: []bundle.File{{Path: "assets/index.html"}}}
	packed, err := bundle.Pack(io.Discard, m, files)
	if err != nil {
		t.Fatal(err)
	}
	text, err := packed.Manifest.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := bundle.Decode(text)
	if err != nil || again.Main != "" || !again.Assets.RunWorkerFirst.IsZero() {
		t.Errorf("got %+v, %v", again, err)
	}
}

func TestWorkerFirst(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bundle.WorkerFirst{
		`true`: {All: true}, `false`: {}, `["/a"]`: {Patterns: []string{"/a"}}, `[]`: {Patterns: []string{}},
	} {
		var got bundle.WorkerFirst
		if err := json.Unmarshal([]byte(text), &got); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s gives %+v, %v", text, got, err)
		}
	}
	if err := json.Unmarshal([]byte(`"all"`), new(bundle.WorkerFirst)); err == nil {
		t.Error("a text is no value")
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	_, packed := packSample(t)
	if err := packed.Manifest.Validate(); err != nil {
		t.Fatalf("the sample: %v", err)
	}
	for _, test := range invalid() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := test.change(t).Validate()
			wantCode(t, err, test.code)
			var e *svc.Error
			if !errors.As(err, &e) || !errors.Is(err, svc.Unprocessable) {
				t.Fatalf("got %v", err)
			}
			if len(e.Fields) != 1 || e.Fields[0].Pointer != test.pointer {
				t.Errorf("fields = %+v, want one at %s", e.Fields, test.pointer)
			}
		})
	}
}

func TestValidateReportsAllProblems(t *testing.T) {
	t.Parallel()
	err := bundle.Manifest{}.Validate()
	if e := svc.AsError(err); len(e.Fields) < 4 {
		t.Errorf("only %d problems of an empty manifest: %v", len(e.Fields), err)
	}
}

// format is the field of the format in a manifest.
const format = `"schema_version": 5`

// TestDecodeOlder: a manifest of a program before 0.1.0 is refused by its number, with the way out,
// whatever else is in it.
func TestDecodeOlder(t *testing.T) {
	t.Parallel()
	for n := range bundle.SchemaVersion {
		_, err := bundle.Decode(fmt.Appendf(nil, `{"schema_version": %d, "gone": true}`, n))
		wantCode(t, err, "manifest_version")
		e := svc.AsError(err)
		if want := fmt.Sprintf("the bundle has format %d; this program reads format 5", n); e.Detail != want || e.Hint != "pack the worker again with svcctl 0.1.0 or a later one" {
			t.Errorf("format %d: %q, hint %q", n, e.Detail, e.Hint)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	manifest, _ := hello(t)
	good := string(manifest.body)
	for _, test := range []struct{ name, text, code string }{
		{"not json", `{"main"`, "manifest_invalid"},
		{"a list", `[]`, "manifest_invalid"},
		{"unknown field", strings.Replace(good, `"main"`, `"entry": 1, "main"`, 1), "manifest_invalid"},
		{"wrong type", strings.Replace(good, `"index.js"`, `17`, 1), "manifest_invalid"},
		{"newer format", strings.Replace(good, format, `"schema_version": 6, "news": []`, 1), "manifest_version"},
		{"no version", strings.Replace(good, format, `"schema_version": 0`, 1), "manifest_version"},
		{"two values", good + `{}`, "manifest_invalid"},
		{"empty", ``, "manifest_invalid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := bundle.Decode([]byte(test.text))
			wantCode(t, err, test.code)
		})
	}
	if _, err := bundle.Decode([]byte(good)); err != nil {
		t.Error(err)
	}
}

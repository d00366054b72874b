package workerhost_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/durableobject"
	"github.com/svcctl/svcctl/internal/host/entry"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerhost"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestCompose(t *testing.T) {
	t.Parallel()
	text := "x"
	shared := workerd.Service{Name: "kv:main", External: &workerd.External{Address: "unix:/run/binding.sock"}}
	config := workerhost.Compose(workerhost.Composition{
		Manifest: &bundle.Manifest{
			Main: "index.js", CompatibilityDate: "2026-11-01", CompatibilityFlags: []string{"nodejs_compat"},
			Modules: []bundle.Module{
				{Name: "a/b.txt", Type: bundle.Text},
				{Name: "index.js", Type: bundle.ESModule},
				{Name: "c.wasm", Type: bundle.Wasm},
			},
		},
		BundleDir: "/bundle", RunDir: "/run", HeapMB: 128,
		Network: &workerd.Network{Allow: []string{"public"}, Deny: []string{"0.0.0.0/8"}},
		Env:     []workerd.Binding{{Name: "A", Text: &text}},
		Wirings: []binding.Wiring{
			{Binding: workerd.Binding{Name: "K1", KVNamespace: "kv:main"}, Services: []workerd.Service{shared}},
			{Binding: workerd.Binding{Name: "K2", KVNamespace: "kv:main"}, Services: []workerd.Service{shared}},
		},
	})
	modules := config.Services[0].Worker.Modules
	if len(modules) != 4 || len(config.Extensions) != len(entry.Extensions(0, false, false)) {
		t.Fatalf("%d modules and %d extensions: where is the entry module?", len(modules), len(config.Extensions))
	}
	modules[0].Source, config.Extensions = "entry", nil
	got, err := workerd.Render(config)
	if err != nil {
		t.Fatal(err)
	}
	const want = `  services = [
    (name = "worker", worker = (modules = [(name = "svc-entry.js", esModule = "entry"), ` +
		`(name = "index.js", esModule = embed "/bundle/modules/index.js"), ` +
		`(name = "a/b.txt", text = embed "/bundle/modules/a/b.txt"), ` +
		`(name = "c.wasm", wasm = embed "/bundle/modules/c.wasm")], ` +
		`compatibilityDate = "2026-11-01", compatibilityFlags = ["nodejs_compat"], ` +
		`bindings = [(name = "A", text = "x"), (name = "K1", kvNamespace = "kv:main"), (name = "K2", kvNamespace = "kv:main")], ` +
		`globalOutbound = "internet", cacheApiOutbound = "cache")),
    (name = "internet", network = (allow = ["public"], deny = ["0.0.0.0/8"], tlsOptions = (trustBrowserCas = true))),
    (name = "ping", disk = (path = "/run/ping")),
    (name = "cache", external = (address = "unix:/run/binding.sock", http = (forwardedProtoHeader = "X-Svc-Proto", cfBlobHeader = "X-Svc-Cf", injectRequestHeaders = [(name = "X-Svc-Binding", value = "cache")]))),
    (name = "kv:main", external = (address = "unix:/run/binding.sock", http = ())),
  ],
  sockets = [
    (name = "http", address = "unix:/run/http.sock", service = "worker", http = (forwardedProtoHeader = "X-Svc-Proto", cfBlobHeader = "X-Svc-Cf")),
    (name = "ping", address = "unix:/run/ping.sock", service = "ping", http = ()),
    (name = "wait", address = "unix:/run/wait.sock", service = (name = "worker", entrypoint = "svc:waiting"), http = ()),
  ],
  v8Flags = ["--max-old-space-size=128", "--no-concurrent-recompilation", "--expose-gc"],
  logging = (structuredLogging = true),
);
`
	_, body, _ := strings.Cut(string(got), "(\n")
	if diff := gocmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}

// TestComposeV8Flags: V8 collects early where memory is limited.
func TestComposeV8Flags(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]string{
		0:   "--max-old-space-size=128 --no-concurrent-recompilation --expose-gc",
		512: "--max-old-space-size=128 --no-concurrent-recompilation --expose-gc --initial-heap-size=8 --max-semi-space-size=1",
	} {
		m := &bundle.Manifest{Main: "index.js", Modules: []bundle.Module{{Name: "index.js", Type: bundle.ESModule}}}
		config := workerhost.Compose(workerhost.Composition{Manifest: m, HeapMB: 128, MemoryMB: limit})
		if got := strings.Join(config.V8Flags, " "); got != want {
			t.Errorf("limit of %d MiB: %s, want %s", limit, got, want)
		}
	}
}

// TestComposeFiles: a worker beside static files has a binding to them, for calls of other workers.
func TestComposeFiles(t *testing.T) {
	t.Parallel()
	modules := []bundle.Module{{Name: "index.js", Type: bundle.ESModule}}
	for name, tc := range map[string]struct {
		manifest bundle.Manifest
		want     []string
	}{
		"no files":     {bundle.Manifest{}, nil},
		"files":        {bundle.Manifest{Assets: &bundle.Assets{}}, []string{"svc:files"}},
		"both":         {bundle.Manifest{Assets: &bundle.Assets{Binding: "ASSETS"}}, []string{"ASSETS", "svc:files"}},
		"hidden env":   {bundle.Manifest{Assets: &bundle.Assets{}, CompatibilityFlags: []string{"disallow_importable_env"}}, nil},
		"assets alone": {bundle.Manifest{Assets: &bundle.Assets{Binding: "ASSETS"}, Main: "svc-assets.js"}, []string{"ASSETS"}},
	} {
		m := tc.manifest
		m.Modules, m.Main = modules, cmp.Or(m.Main, "index.js")
		if m.Main != "index.js" {
			m.Modules = []bundle.Module{{Name: m.Main, Type: bundle.ESModule}}
		}
		worker := workerhost.Compose(workerhost.Composition{Manifest: &m, HeapMB: 128}).Services[0].Worker
		var got []string
		for _, b := range worker.Bindings {
			got = append(got, b.Name)
		}
		if diff := gocmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestComposeObjects: a worker whose Durable Objects have no binding gets one that it does not see, so that
// their calls take turns.
func TestComposeObjects(t *testing.T) {
	t.Parallel()
	bound := durableobject.Namespace("ROOMS", "Room", binding.Site{})
	for name, tc := range map[string]struct {
		wirings []binding.Wiring
		flags   []string
		hidden  bool
	}{
		"without a binding":              {nil, nil, true},
		"with a binding":                 {[]binding.Wiring{bound}, nil, false},
		"without the env of modules":     {nil, []string{"disallow_importable_env"}, false},
		"with a binding of another kind": {[]binding.Wiring{{Binding: workerd.Binding{Name: "K", KVNamespace: "kv:main"}}}, nil, true},
	} {
		config := workerhost.Compose(workerhost.Composition{
			Manifest: &bundle.Manifest{
				Main: "index.js", CompatibilityDate: "2026-11-01", CompatibilityFlags: tc.flags, Modules: []bundle.Module{{Name: "index.js", Type: bundle.ESModule}},
				ObjectClasses: []bundle.ObjectClass{{Name: "Old", Key: "Old", Deleted: true}, {Name: "Room", Key: "Room", SQL: true}},
			},
			BundleDir: "/bundle", RunDir: "/run", HeapMB: 128, Objects: "/objects", Wirings: tc.wirings,
		})
		w := config.Services[0].Worker
		has := slices.ContainsFunc(w.Bindings, func(b workerd.Binding) bool {
			return b.Name == entry.Objects && b.Wrapped.Inner[0].ObjectClass == "Room"
		})
		taken := slices.ContainsFunc(w.Modules, func(m workerd.Module) bool { return m.Name == "svc-objects.js" })
		if has != tc.hidden || taken != tc.hidden {
			t.Errorf("%s: hidden binding %t, taken away %t", name, has, taken)
		}
	}
}

// TestObjectKeys: the keys of classes begin with the namespace of the version; classes that are deleted
// are left out.
func TestObjectKeys(t *testing.T) {
	t.Parallel()
	m := &bundle.Manifest{
		Main: "index.js", Modules: []bundle.Module{{Name: "index.js", Type: bundle.ESModule}},
		ObjectClasses: []bundle.ObjectClass{{Name: "Room", Key: "Old", SQL: true}, {Name: "Gone", Key: "Gone", Deleted: true}},
	}
	for namespace, key := range map[svc.ObjectNamespace]string{"": "Old", "n": "n~Old"} {
		worker := workerhost.Compose(workerhost.Composition{Manifest: m, Objects: "/objects", Namespace: namespace}).Services[0].Worker
		if diff := gocmp.Diff([]workerd.ObjectClass{{Name: "Room", Key: key, SQL: true}}, worker.ObjectClasses); diff != "" {
			t.Errorf("with the namespace %q: %s", namespace, diff)
		}
	}
}

package calls_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/services"
	"github.com/svcctl/svcctl/internal/server/versions/calls"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

var caller = svc.Ref{Project: "front", Version: "v1"}

// manifest calls users, users/v1, and itself.
func manifest() *bundle.Manifest {
	return &bundle.Manifest{
		SchemaVersion: bundle.SchemaVersion, Main: "index.js", CompatibilityDate: "2026-11-01", CompatibilityFlags: []string{},
		Modules: []bundle.Module{{Name: "index.js", Type: bundle.ESModule, SHA256: strings.Repeat("0", 64)}}, Bindings: []bundle.Binding{
			{Name: "USERS", Kind: "service", Resource: "users"},
			{Name: "ADMIN", Kind: "service", Resource: "users", Config: json.RawMessage(`{"entrypoint": "Admin", "version": "production"}`)},
			{Name: "OLD", Kind: "service", Resource: "users", Config: json.RawMessage(`{"version": "v1"}`)},
			{Name: "SELF", Kind: "service", Resource: "other", Config: json.RawMessage(`{"self": true}`)},
			{Name: "FRONT", Kind: "service", Resource: "front"},
		},
	}
}

// TestListen: a connection to the socket of a target is joined with that target; after one
// that was not, the socket for questions says why.
func TestListen(t *testing.T) {
	t.Parallel()
	bundleDir, dir := t.TempDir(), svctest.ShortDir(t)
	text, err := json.Marshal(manifest())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bundleDir, "manifest.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan string, 3)
	l, err := calls.New(calls.Config{
		Logger: slog.New(slog.DiscardHandler), Done: func(code string) { done <- code },
		Connect: func(_ context.Context, project, version string) (net.Conn, error) {
			if version != "" {
				return nil, svc.Errorf(svc.Unavailable, svc.CodeVersionArchived, "it is archived")
			}
			ours, theirs := net.Pipe()
			go func() { _, _ = io.Copy(theirs, io.LimitReader(theirs, 5)); _ = theirs.Close() }()
			return ours, nil
		},
	}).Listen(t.Context(), caller, bundleDir, dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	call := func(target services.Target) string {
		conn, err := new(net.Dialer).DialContext(t.Context(), "unix", filepath.Join(dir, target.Socket()))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "hello") // it may be closed
		got, _ := io.ReadAll(conn)
		return string(got)
	}
	users, old := services.Target{Project: "users"}, services.Target{Project: "users", Version: "v1"}
	if got := call(users); got != "hello" || <-done != "" {
		t.Errorf("the target answered %q", got)
	}
	if got := call(old); got != "" || <-done != svc.CodeVersionArchived {
		t.Errorf("a target that is archived answered %q", got)
	}
	for target, want := range map[services.Target]string{users: "", old: `{"code":"version_archived","detail":"it is archived"}` + "\n"} {
		if got := ask(t, dir, target); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
}

func ask(t *testing.T, dir string, target services.Target) string {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, services.AskSocket))
	}}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://ask/"+target.Socket(), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// registry has the project users with the versions v1 and v7, which have namespaces of their own, and
// the preview main.
type registry struct{}

var errAbsent = svc.Errorf(svc.NotFound, svc.CodeProjectNotFound, "it is not there")

func (registry) Project(_ context.Context, id string) (svc.Project, error) {
	if id == "users" {
		return svc.Project{ID: id, ProdVersionID: "v7", ObjectNamespace: "ns"}, nil
	}
	return svc.Project{}, errAbsent
}

func (registry) ListProjects(context.Context, svc.PageRequest) (svc.Page[svc.Project], error) {
	return svc.Page[svc.Project]{Items: []svc.Project{{ID: "users"}, {ID: "orders"}}}, nil
}

func (registry) Version(_ context.Context, ref svc.Ref) (svc.Version, error) {
	switch ref.Version {
	case "v1":
		return svc.Version{Ref: ref}, nil
	case "v7":
		return svc.Version{Ref: ref, ObjectNamespace: "ns7"}, nil
	}
	return svc.Version{}, errAbsent
}

func (registry) Preview(_ context.Context, _, name string) (svc.Preview, error) {
	if name == "main" {
		return svc.Preview{}, nil
	}
	return svc.Preview{}, errAbsent
}

// classes has a class that was deleted and one that was renamed in v7.
func classes(_ context.Context, ref svc.Ref) (m bundle.Manifest, err error) {
	if ref.Version == "v7" {
		m.ObjectClasses = []bundle.ObjectClass{{Name: "Old", Key: "Old", Deleted: true}, {Name: "Room", Key: "key of v7"}}
	}
	return m, nil
}

// TestCallees: a worker may call what exists, and what it says may be missing.
func TestCallees(t *testing.T) {
	t.Parallel()
	check := func(b bundle.Binding) string {
		m := manifest()
		m.Bindings = append(m.Bindings, b)
		callees := calls.Callees{Registry: registry{}, Manifest: classes}
		keys, keysErr := callees.ObjectKeys(t.Context(), caller, m)
		err := callees.Check(t.Context(), caller, m)
		if err == nil && keysErr == nil {
			return strings.Join(slices.Collect(maps.Values(keys)), "")
		}
		return svc.AsError(err).Detail
	}
	for _, test := range []struct{ resource, config, want string }{
		{"users", `{"version": "main"}`, ""},
		{"nothing", `{"optional": true}`, ""},
		{"user", `{}`, "binding B: there is no project user; did you mean users?"},
		{"nothing", `{}`, "binding B: there is no project nothing"},
		{"users", `{"version": "v2"}`, "binding B: project users has no version or preview v2"},
		{"users", `{"object_class": "Room"}`, "ns7~key of v7"},
		{"users", `{"object_class": "Room", "version": "v1"}`, "binding B: users/v1 has no Durable Objects"},
		{"users", `{"object_class": "Room", "version": "main"}`, "ns~Room"}, // no version of the preview is ready
		{"users", `{"object_class": "Old"}`, "binding B: users has no Durable Object class Old; it has Room"},
		{"users", `{"object_class": "New", "optional": true}`, "ns7~New"},                // it is not deployed yet
		{"users", `{"object_class": "Room", "version": "v1", "optional": true}`, "Room"}, // as before namespaces
		{"nothing", `{"object_class": "Room", "optional": true}`, ""},
	} {
		if got := check(bundle.Binding{Name: "B", Kind: "service", Resource: test.resource, Config: json.RawMessage(test.config)}); got != test.want {
			t.Errorf("%s %s: %q, want %q", test.resource, test.config, got, test.want)
		}
	}
}

package secrets_test

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/keyring"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/secrets"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// marker is a value that only processes of versions may hold.
const marker = "sk_live_marker_51H8x"

// world is a registry with the project shop, and the processes of its versions as entries of a map.
type world struct {
	*registry.DB
	t    *testing.T
	log  *svctest.Buffer
	path string

	mu       sync.Mutex
	service  *secrets.Service
	running  map[string]map[string]string // secrets of the processes, by version
	restarts []string
	broken   string // a version with this value does not start
	tried    func() // called after a trial; nil for none
}

func newWorld(t *testing.T) *world {
	t.Helper()
	path := t.TempDir() + "/registry.db"
	w := &world{DB: registrytest.OpenAt(t, path), t: t, path: path, log: &svctest.Buffer{}, running: map[string]map[string]string{}}
	registrytest.AddProject(t, w.DB, "shop")
	return w
}

func line(t *testing.T, id string) string {
	t.Helper()
	l, err := keyring.NewLine(id)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func ring(t *testing.T, lines ...string) *keyring.Ring {
	t.Helper()
	r, err := keyring.Parse(strings.Join(lines, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// start makes the service of a process, and starts the versions that are ready.
func (w *world) start(keys *keyring.Ring) *secrets.Service {
	w.t.Helper()
	s, err := secrets.New(secrets.Deps{
		Registry: w.DB, Runtimes: func() secrets.Runtimes { return w }, Forks: svc.ForkPolicy{PRRefs: []string{"refs/pull/*"}}, Keys: keys,
		Logger: slog.New(slog.NewTextHandler(w.log, nil)),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			w.t.Error(err)
		}
	})
	w.service = s
	ready, err := w.VersionsByStatus(w.t.Context(), svc.StatusReady)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, v := range ready {
		if _, err := w.RefreshSecrets(w.t.Context(), v.Ref); err != nil {
			w.t.Fatal(err)
		}
	}
	w.restarts = nil
	return s
}

// add creates a ready version.
func (w *world) add(n svc.NewVersion) {
	w.t.Helper()
	n.Project = "shop"
	if _, _, err := w.CreateVersion(w.t.Context(), n, svc.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	registrytest.Move(w.t, w.DB, svc.Ref{Project: "shop", Version: n.ID}, registrytest.ToReady()...)
}

func (w *world) promote(to, instead string) {
	w.t.Helper()
	if err := w.SetProduction(w.t.Context(), "shop", instead, to); err != nil {
		w.t.Fatal(err)
	}
}

// TrySecrets implements secrets.Runtimes.
func (w *world) TrySecrets(_ context.Context, ref svc.Ref, values map[string]string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, value := range values {
		if w.broken != "" && value == w.broken {
			return svc.Errorf(svc.Unprocessable, svc.CodeStartupFailed, "version %s throws at its start", ref)
		}
	}
	w.running[ref.Version] = maps.Clone(values)
	w.restarts = append(w.restarts, ref.Version)
	if w.tried != nil {
		w.tried()
	}
	return nil
}

// RefreshSecrets implements secrets.Runtimes.
func (w *world) RefreshSecrets(ctx context.Context, ref svc.Ref) (bool, error) {
	v, err := w.Version(ctx, ref)
	if err != nil {
		return false, err
	}
	values, err := w.service.Of(ctx, v)
	if err != nil {
		return false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if maps.Equal(values, w.running[ref.Version]) {
		return false, nil
	}
	w.running[ref.Version] = values
	w.restarts = append(w.restarts, ref.Version)
	return true, nil
}

// has fails the test unless the process of a version has a secret with a value; "" for none.
func (w *world) has(version, name, value string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := w.running[version][name]; got != value {
		w.t.Errorf("%s has %s=%q, want %q", version, name, got, value)
	}
}

func put(name, value string) svc.SecretChange {
	return svc.SecretChange{Class: svc.SecretRelease, Put: map[string]string{name: value}, By: "ana"}
}

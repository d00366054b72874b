package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/svcctl/svcctl/internal/lifecycle"
	"github.com/svcctl/svcctl/internal/registry"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is what survives a daemon: the registry and the disk.
type world struct {
	*registry.DB
	root string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root := t.TempDir()
	db, err := registry.Open(t.Context(), filepath.Join(root, "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, _, err := db.CreateProject(t.Context(), svc.Project{ID: "shop"}); err != nil {
		t.Fatal(err)
	}
	return &world{DB: db, root: root}
}

func ref(version string) svc.Ref { return svc.Ref{Project: "shop", Version: version} }

// add makes a version and takes it along triggers.
func (w *world) add(t *testing.T, version string, triggers ...svc.Trigger) svc.Ref {
	t.Helper()
	n := svc.NewVersion{Project: "shop", ID: version, Env: map[string]string{"TOKEN": "hush"}}
	if _, _, err := w.CreateVersion(t.Context(), n, registry.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.move(t, ref(version), triggers...)
	if err := os.MkdirAll(w.data(version), 0o700); err != nil {
		t.Fatal(err)
	}
	return ref(version)
}

func (w *world) move(t *testing.T, r svc.Ref, triggers ...svc.Trigger) {
	t.Helper()
	for _, tr := range triggers {
		if _, err := w.Move(t.Context(), r, tr, svc.Change{}); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) data(version string) string { return filepath.Join(w.root, "data", "shop", version) }

func (w *world) version(t *testing.T, r svc.Ref) svc.Version {
	t.Helper()
	v, err := w.Version(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// expect checks status and whether there is a process and a data directory.
func (d *daemon) expect(t *testing.T, r svc.Ref, status svc.Status, runs, data bool) {
	t.Helper()
	v := d.version(t, r)
	_, err := os.Stat(d.data(r.Version))
	if v.Status != status || d.runs(r) != runs || (err == nil) != data {
		t.Errorf("%s is %s, runs: %v, has data: %v; want %s, %v, %v", r.Version, v.Status, d.runs(r), err == nil, status, runs, data)
	}
	if v.Status == svc.StatusArchived && d.runs(r) {
		t.Errorf("%s is archived and has a process", r.Version)
	}
}

// toReady are the triggers of a deploy that succeeds [D15].
var toReady = []svc.Trigger{svc.TriggerFetch, svc.TriggerBranch, svc.TriggerPrepare, svc.TriggerDeploy, svc.TriggerActivate}

// daemon is one life of the service over a world. It plays runtimes, routes and
// vault: processes are entries of a map.
type daemon struct {
	*lifecycle.Service
	*world

	// before is called before each call of a part: "start", "stop", "drain",
	// "seal", "destroy", "purge", "forget".
	before func(ctx context.Context, call string, r svc.Ref) error
	// woke is called when a version was moved to ready, before its wake is over.
	woke func(r svc.Ref)

	mu      sync.Mutex
	up      map[svc.Ref]bool
	deploys map[svc.Ref]context.CancelFunc // deploys under way
	routes  map[svc.Ref]svc.Status
	sealed  map[svc.Ref]bool
	calls   []string
	woken   int
}

func (w *world) start(t *testing.T, change ...func(*lifecycle.Deps)) *daemon {
	t.Helper()
	d := &daemon{world: w, up: map[svc.Ref]bool{}, deploys: map[svc.Ref]context.CancelFunc{}, routes: map[svc.Ref]svc.Status{}, sealed: map[svc.Ref]bool{}}
	ready, err := w.VersionsByStatus(t.Context(), svc.StatusReady)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range ready { // as deploy.Restore does
		d.up[v.Ref] = true
	}
	deps := lifecycle.Deps{
		Versions: w, Inventory: w, Runtimes: runtimes{d}, Routes: d, Vault: vault{d, filepath.Join(w.root, "data")},
		Logger: slog.New(slog.DiscardHandler), Observer: d,
	}
	for _, c := range change {
		c(&deps)
	}
	if d.Service, err = lifecycle.New(deps); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.end(t) })
	return d
}

// end ends the service, and with it every process.
func (d *daemon) end(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := d.Stop(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.up = map[svc.Ref]bool{}
}

func (d *daemon) call(ctx context.Context, name string, r svc.Ref) error {
	d.mu.Lock()
	d.calls = append(d.calls, name+" "+r.Version)
	d.mu.Unlock()
	if d.before != nil {
		if err := d.before(ctx, name, r); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (d *daemon) log() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.calls...)
}

func (d *daemon) runs(r svc.Ref) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.up[r]
}

func (d *daemon) status(r svc.Ref) svc.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.routes[r]
}

func (d *daemon) Start(ctx context.Context, r svc.Ref) error {
	if err := d.call(ctx, "start", r); err != nil {
		return err
	}
	if _, err := os.Stat(d.data(r.Version)); err != nil {
		return fmt.Errorf("no data: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.up[r] = true
	delete(d.sealed, r)
	return nil
}

func (d *daemon) stopRuntime(r svc.Ref) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if end := d.deploys[r]; end != nil {
		end()
	}
	d.up[r] = false
}

func (d *daemon) Purge(ctx context.Context, r svc.Ref) error {
	if d.runs(r) {
		return errors.New("it runs")
	}
	return d.call(ctx, "purge", r)
}

func (d *daemon) StatusChanged(r svc.Ref, s svc.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.routes[r] = s
}

func (d *daemon) AlmostReady(r svc.Ref) (over func()) {
	return func() {
		if d.woke != nil {
			d.woke(r)
		}
	}
}

func (d *daemon) Forget(r svc.Ref) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, "forget "+r.Version)
	delete(d.routes, r)
}

func (d *daemon) DrainVersion(ctx context.Context, r svc.Ref) error {
	if d.status(r).Serves() {
		return errors.New("it still takes requests")
	}
	return d.call(ctx, "drain", r)
}

func (d *daemon) WakeDone(float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.woken++
}

// runtimes gives the daemon's Stop of a version its name back.
type runtimes struct{ *daemon }

func (r runtimes) Stop(ctx context.Context, v svc.Ref) error {
	if err := r.call(ctx, "stop", v); err != nil {
		return err
	}
	r.stopRuntime(v)
	return nil
}

// vault is a directory for each version that fails when told to and checks that
// nobody has the data open.
type vault struct {
	d    *daemon
	root string
}

func (v vault) closed(ctx context.Context, call string, r svc.Ref) error {
	if v.d.runs(r) {
		return errors.New("the data is open")
	}
	return v.d.call(ctx, call, r)
}

func (v vault) Seal(ctx context.Context, r svc.Ref) error {
	err := v.closed(ctx, "seal", r)
	v.d.mu.Lock()
	defer v.d.mu.Unlock()
	v.d.sealed[r] = err == nil
	return err
}

func (v vault) Unsealed(r svc.Ref) bool {
	v.d.mu.Lock()
	defer v.d.mu.Unlock()
	return !v.d.sealed[r]
}

func (v vault) Destroy(ctx context.Context, r svc.Ref) error {
	if err := v.closed(ctx, "destroy", r); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(v.root, r.Project, r.Version))
}

// wantError checks kind and code.
func wantError(t *testing.T, err error, kind svc.Kind, code string) {
	t.Helper()
	if !errors.Is(err, kind) || svc.CodeOf(err) != code {
		t.Errorf("err = %v, want %s, %s", err, kind, code)
	}
}

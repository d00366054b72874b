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

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/lifecycle"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// world is the state that outlives a daemon: the registry and the disk.
type world struct {
	*registry.DB
	root string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{DB: registrytest.Open(t, "shop"), root: t.TempDir()}
}

func ref(version string) svc.Ref { return svc.Ref{Project: "shop", Version: version} }

// add creates a version and applies triggers to it.
func (w *world) add(t *testing.T, version string, triggers ...svc.Trigger) svc.Ref {
	t.Helper()
	n := svc.NewVersion{Project: "shop", ID: version, Env: map[string]string{"TOKEN": "hush"}}
	if _, _, err := w.CreateVersion(t.Context(), n, svc.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	registrytest.Move(t, w.DB, ref(version), triggers...)
	if err := os.MkdirAll(w.data(version), 0o700); err != nil {
		t.Fatal(err)
	}
	return ref(version)
}

func (w *world) data(version string) string { return filepath.Join(w.root, "data", "shop", version) }

// expect checks status and whether there is a process and a data directory.
func (d *daemon) expect(t *testing.T, r svc.Ref, status svc.Status, runs, data bool) {
	t.Helper()
	v := registrytest.Get(t, d.DB, r)
	_, err := os.Stat(d.data(r.Version))
	if v.Status != status || d.runs(r) != runs || (err == nil) != data {
		t.Errorf("%s is %s, runs: %v, has data: %v; want %s, %v, %v", r.Version, v.Status, d.runs(r), err == nil, status, runs, data)
	}
	if v.Status == svc.StatusArchived && d.runs(r) {
		t.Errorf("%s is archived and has a process", r.Version)
	}
}

// daemon is a Service over a world. It is also the fake of its runtimes and routes;
// its processes are entries of a map.
type daemon struct {
	*lifecycle.Service
	*world

	// before is called before each call of a fake: "start", "stop", "drain",
	// "archive", "destroy", "purge".
	before func(ctx context.Context, call string, r svc.Ref) error
	// woke is called when a version was moved to ready, before its wake has returned.
	woke func(r svc.Ref)

	mu       sync.Mutex
	up       map[svc.Ref]bool
	deploys  map[svc.Ref]context.CancelFunc // running deploys
	routes   map[svc.Ref]svc.Status
	archived map[svc.Ref]bool
	calls    []string
	dropped  []svc.Ref // unpacked bundles
	held     map[svc.Ref]bool
	env      map[svc.Ref]map[string]string // of running processes
	asked    map[svc.Ref]time.Time
	work     map[svc.Ref]svc.Wake
	woken    int
}

func (w *world) start(t *testing.T, change ...func(*lifecycle.Deps)) *daemon {
	t.Helper()
	d := &daemon{world: w, up: map[svc.Ref]bool{}, deploys: map[svc.Ref]context.CancelFunc{}, routes: map[svc.Ref]svc.Status{}, archived: map[svc.Ref]bool{}, held: map[svc.Ref]bool{}, env: map[svc.Ref]map[string]string{}, asked: map[svc.Ref]time.Time{}, work: map[svc.Ref]svc.Wake{}}
	ready, err := w.VersionsByStatus(t.Context(), svc.StatusReady)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range ready { // as deploy.Restore does
		d.up[v.Ref] = true
	}
	deps := lifecycle.Deps{
		Versions: w, Inventory: w, Runtimes: runtimes{d}, Routes: d, Data: fakeData{d, filepath.Join(w.root, "data")},
		Logger: slog.New(slog.DiscardHandler), Usage: d, Observer: d,
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

// end stops the service and every process.
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

func (d *daemon) LastUse(r svc.Ref) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked[r]
}

func (d *daemon) NextWake(_ context.Context, r svc.Ref) (svc.Wake, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.up[r] {
		return svc.Wake{}, svc.Errorf(svc.Unavailable, "runtime_unavailable", "it does not run")
	}
	return d.work[r], nil
}

func (d *daemon) Waiting(_ context.Context, r svc.Ref) svc.Waiting {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.work[r].Waiting
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
	delete(d.archived, r)
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

func (d *daemon) DropBundle(ctx context.Context, r svc.Ref) error {
	if d.runs(r) {
		return errors.New("the version runs")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropped = append(d.dropped, r)
	return ctx.Err()
}

func (d *daemon) Purge(ctx context.Context, r svc.Ref) error {
	if d.runs(r) {
		return errors.New("the version runs")
	}
	return d.call(ctx, "purge", r)
}

func (d *daemon) StatusChanged(r svc.Ref, s svc.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.routes[r] = s
}

func (d *daemon) HoldUntilReady(r svc.Ref) (release func()) {
	return func() {
		if d.woke != nil {
			d.woke(r)
		}
	}
}

func (d *daemon) HoldForRestart(r svc.Ref) (release func()) {
	set := func(held bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.held[r] = held
	}
	set(true)
	return func() { set(false) }
}

func (d *daemon) isHeld(r svc.Ref) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held[r]
}

func (d *daemon) RemoveRoutes(r svc.Ref) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, "unroute "+r.Version)
	delete(d.routes, r)
}

func (d *daemon) DrainVersion(ctx context.Context, r svc.Ref) error {
	if d.status(r).Serves() && !d.isHeld(r) {
		return errors.New("the version still serves")
	}
	return d.call(ctx, "drain", r)
}

func (d *daemon) WakeDone(time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.woken++
}

// runtimes implements lifecycle.Runtimes, whose Stop conflicts with the Service's.
type runtimes struct{ *daemon }

// Revive has no wait that the end of ctx could interrupt.
func (r runtimes) Revive(ctx context.Context, v svc.Ref) error {
	err := r.call(ctx, "revive", v)
	if err != nil && err == ctx.Err() { //nolint:errorlint // the error of call itself
		return nil
	}
	return err
}

// Restart fails if requests do not wait.
func (r runtimes) Restart(ctx context.Context, v svc.Ref, env map[string]string) error {
	if !r.isHeld(v) {
		return errors.New("requests do not wait")
	}
	if err := r.call(ctx, "restart", v); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.env[v] = env
	return nil
}

// RestartWithSecrets fails if requests do not wait.
func (r runtimes) RestartWithSecrets(ctx context.Context, v svc.Ref, secrets map[string]string) error {
	return r.Restart(ctx, v, secrets)
}

// SecretsDiffer is true until a restart.
func (r runtimes) SecretsDiffer(ctx context.Context, v svc.Ref) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.env[v] == nil, ctx.Err()
}

func (r runtimes) Stop(ctx context.Context, v svc.Ref) error {
	if err := r.call(ctx, "stop", v); err != nil {
		return err
	}
	r.stopRuntime(v)
	return nil
}

// fakeData has one directory per version and checks that the version does not run.
type fakeData struct {
	d    *daemon
	root string
}

func (v fakeData) closed(ctx context.Context, call string, r svc.Ref) error {
	if v.d.runs(r) {
		return errors.New("the data is open")
	}
	return v.d.call(ctx, call, r)
}

func (v fakeData) Archive(ctx context.Context, r svc.Ref) error {
	err := v.closed(ctx, "archive", r)
	v.d.mu.Lock()
	defer v.d.mu.Unlock()
	v.d.archived[r] = err == nil
	return err
}

func (v fakeData) Cached(r svc.Ref) bool {
	v.d.mu.Lock()
	defer v.d.mu.Unlock()
	return !v.d.archived[r]
}

func (v fakeData) Destroy(ctx context.Context, r svc.Ref) error {
	if err := v.closed(ctx, "destroy", r); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(v.root, r.Project, r.Version))
}

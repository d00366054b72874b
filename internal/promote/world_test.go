package promote_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/promote"
	"github.com/svcctl/svcctl/internal/registry"
	"github.com/svcctl/svcctl/internal/saga"
	"github.com/svcctl/svcctl/internal/svc"
)

// world is what survives a daemon: the registry and the bucket.
type world struct {
	*registry.DB
	bucket *objstore.Mem
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := openWorld(t, filepath.Join(t.TempDir(), "registry.db"))
	if _, _, err := w.CreateProject(t.Context(), svc.Project{ID: "shop"}); err != nil {
		t.Fatal(err)
	}
	return w
}

func openWorld(t *testing.T, path string) *world {
	t.Helper()
	db, err := registry.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &world{DB: db, bucket: &objstore.Mem{}}
}

func ref(version string) svc.Ref { return svc.Ref{Project: "shop", Version: version} }

// add makes a version and takes it to a status.
func (w *world) add(t *testing.T, id string, triggers ...svc.Trigger) svc.Ref {
	t.Helper()
	if _, _, err := w.CreateVersion(t.Context(), svc.NewVersion{Project: "shop", ID: id}, registry.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, trigger := range triggers {
		if _, err := w.Move(t.Context(), ref(id), trigger, svc.Change{}); err != nil {
			t.Fatal(err)
		}
	}
	return ref(id)
}

func (w *world) addReady(t *testing.T, id string) svc.Ref {
	t.Helper()
	return w.add(t, id, svc.TriggerFetch, svc.TriggerBranch, svc.TriggerPrepare, svc.TriggerDeploy, svc.TriggerActivate)
}

func (w *world) production(t *testing.T) string {
	t.Helper()
	p, err := w.Project(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	return p.ProdVersionID
}

func (w *world) status(t *testing.T, id string) svc.Status {
	t.Helper()
	v, err := w.Version(t.Context(), ref(id))
	if err != nil {
		t.Fatal(err)
	}
	return v.Status
}

// pointer is the version that the pointer object names, "" for no object.
func (w *world) pointer(t *testing.T) string {
	t.Helper()
	body, _, err := w.bucket.Get(t.Context(), "shop/production.json", 0, -1)
	if errors.Is(err, objstore.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		VersionID string `json:"version_id"`
	}
	data, err := io.ReadAll(body)
	if err := errors.Join(err, json.Unmarshal(data, &p)); err != nil {
		t.Fatal(err)
	}
	return p.VersionID
}

// gate is a gateway that routes nothing but keeps the rules of one.
type gate struct {
	mu       sync.Mutex
	prod     map[string]string
	held     map[string]chan struct{} // closed by Release
	events   []string
	inflight chan struct{} // DrainProduction waits for its end; nil: nothing in flight
}

func newGate() *gate { return &gate{prod: map[string]string{}, held: map[string]chan struct{}{}} }

func (g *gate) note(event string) { g.events = append(g.events, event) }

func (g *gate) SetProduction(project, version string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.prod[project] != version {
		g.note("production " + version)
	}
	g.prod[project] = version
}

func (g *gate) Hold(project string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held[project] == nil {
		g.note("hold")
		g.held[project] = make(chan struct{})
	}
}

func (g *gate) Release(project string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ch := g.held[project]; ch != nil {
		g.note("release")
		close(ch)
		delete(g.held, project)
	}
}

func (g *gate) DrainProduction(ctx context.Context, _ string) error {
	g.mu.Lock()
	inflight := g.inflight
	g.mu.Unlock()
	if inflight == nil {
		return nil
	}
	select {
	case <-inflight:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gate) CloseWebsockets(ref svc.Ref, role svc.Role, after time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.note("websockets " + ref.Version + " " + string(role) + " " + after.String())
}

func (g *gate) StatusChanged(ref svc.Ref, status svc.Status) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.note(ref.Version + " " + string(status))
}

// request is one to the production host: it waits for a hold and gives the
// version that answers.
func (g *gate) request(project string) string {
	for {
		g.mu.Lock()
		held, version := g.held[project], g.prod[project]
		g.mu.Unlock()
		if held == nil {
			return version
		}
		<-held
	}
}

func (g *gate) log() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.events)
}

// results is an Observer.
type results chan string

func (r results) PromoteDone(result string, _ float64) { r <- result }

// daemon is one life of the service over a world.
type daemon struct {
	*promote.Service
	gate *gate
	done results
}

func (w *world) deps(g *gate, done results) promote.Deps {
	return promote.Deps{
		Projects: w, Versions: w, Promotions: w, Journals: w, Gateway: g, Websockets: g, Routes: g,
		Bucket: w.bucket, Logger: slog.New(slog.DiscardHandler), Observer: done,
	}
}

func (w *world) start(t *testing.T, change func(*promote.Deps)) *daemon {
	t.Helper()
	d := &daemon{gate: newGate(), done: make(results, 100)}
	d.gate.SetProduction("shop", w.production(t)) // as the boot does
	d.gate.events = nil
	deps := w.deps(d.gate, d.done)
	if change != nil {
		change(&deps)
	}
	var err error
	if d.Service, err = promote.New(deps); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.stop(t) })
	return d
}

func (d *daemon) stop(t *testing.T) {
	t.Helper()
	if err := d.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// promote runs one promotion to its end and gives its record.
func (d *daemon) promote(t *testing.T, w *world, version string) svc.Promotion {
	t.Helper()
	op, err := d.Promote(t.Context(), ref(version), promote.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if op.Status != svc.PromotionRunning {
		return op
	}
	<-d.done
	got, err := w.Promotion(t.Context(), "shop", op.ID)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// idle waits until no promotion has the project's lock.
func (d *daemon) idle(t *testing.T, w *world) {
	t.Helper()
	prod := w.production(t)
	if prod == "" {
		return
	}
	if err := d.AssignFirst(t.Context(), ref(prod)); err != nil {
		t.Fatal(err)
	}
}

// check asserts what must hold whenever no promotion runs: one production, in
// the registry, at the gateway and in the bucket; nothing held, nothing
// draining, nothing running.
func (w *world) check(t *testing.T, g *gate, want string) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if got := w.production(t); got != want {
		t.Errorf("production is %q, want %q", got, want)
	}
	if g.prod["shop"] != want {
		t.Errorf("the gateway's production is %q, want %q", g.prod["shop"], want)
	}
	if len(g.held) != 0 {
		t.Error("requests are still held")
	}
	if got := w.pointer(t); got != want {
		t.Errorf("the pointer object names %q, want %q", got, want)
	}
	if draining, err := w.VersionsByStatus(t.Context(), svc.StatusDraining); err != nil || len(draining) != 0 {
		t.Errorf("draining: %v, %v", draining, err)
	}
	if running, err := w.RunningPromotions(t.Context()); err != nil || len(running) != 0 {
		t.Errorf("running: %v, %v", running, err)
	}
}

// faults stands between the service and its world: it fails calls on demand,
// and it dies, after which nothing has an effect any more.
type faults struct {
	*world
	mu   sync.Mutex
	left int // moments until the death, 0: immortal
	dead bool
	fail func(call string) error // nil: nothing fails
}

var errDead = errors.New("the process is dead")

// around runs do between two moments at which the process may die.
func (f *faults) around(call string, do func() error) error {
	if f.moment() {
		return errDead
	}
	if f.fail != nil {
		if err := f.fail(call); err != nil {
			return err
		}
	}
	err := do()
	if f.moment() {
		return errDead
	}
	return err
}

func (f *faults) moment() (dead bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left == 0 {
		f.dead = true
	}
	return f.dead
}

func (f *faults) Project(ctx context.Context, id string) (p svc.Project, err error) {
	err = f.around("project", func() error { p, err = f.world.Project(ctx, id); return err })
	return p, err
}

func (f *faults) SetProduction(ctx context.Context, project, expected, next string) error {
	return f.around("commit "+next, func() error { return f.world.SetProduction(ctx, project, expected, next) })
}

func (f *faults) Version(ctx context.Context, ref svc.Ref) (v svc.Version, err error) {
	err = f.around("version", func() error { v, err = f.world.Version(ctx, ref); return err })
	return v, err
}

func (f *faults) Move(ctx context.Context, ref svc.Ref, tr svc.Trigger, c svc.Change) (v svc.Version, err error) {
	err = f.around("move "+string(tr), func() error { v, err = f.world.Move(ctx, ref, tr, c); return err })
	return v, err
}

func (f *faults) CreatePromotion(ctx context.Context, p svc.Promotion) error {
	return f.around("create", func() error { return f.world.CreatePromotion(ctx, p) })
}

func (f *faults) FinishPromotion(ctx context.Context, id string, s svc.PromotionStatus, text string) error {
	return f.around("finish", func() error { return f.world.FinishPromotion(ctx, id, s, text) })
}

func (f *faults) Journal(op string) saga.Journal { return faultyJournal{f, f.world.Journal(op)} }

type faultyJournal struct {
	*faults
	j saga.Journal
}

func (f faultyJournal) Record(ctx context.Context, e saga.Entry) error {
	return f.around("journal "+e.Step+" "+string(e.Phase), func() error { return f.j.Record(ctx, e) })
}

func (f faultyJournal) Steps(ctx context.Context) (all []saga.Entry, err error) {
	err = f.around("steps", func() error { all, err = f.j.Steps(ctx); return err })
	return all, err
}

type faultyBucket struct {
	objstore.Bucket
	f *faults
}

func (b faultyBucket) Put(ctx context.Context, key string, body io.Reader, n int64, c objstore.Condition) (i objstore.Info, err error) {
	err = b.f.around("put", func() error { i, err = b.Bucket.Put(ctx, key, body, n, c); return err })
	return i, err
}

func (b faultyBucket) Get(ctx context.Context, key string, off, n int64) (r io.ReadCloser, i objstore.Info, err error) {
	err = b.f.around("get", func() error { r, i, err = b.Bucket.Get(ctx, key, off, n); return err })
	return r, i, err
}

func (b faultyBucket) Delete(ctx context.Context, keys ...string) error {
	return b.f.around("delete", func() error { return b.Bucket.Delete(ctx, keys...) })
}

// use makes a daemon work through f.
func (f *faults) use(d *promote.Deps) {
	d.Projects, d.Versions, d.Promotions, d.Journals = f, f, f, f
	d.Bucket = faultyBucket{f.bucket, f}
}

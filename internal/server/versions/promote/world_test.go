package promote_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/lib/saga"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/promote"
	"github.com/svcctl/svcctl/internal/svc"
)

// world is the state that outlives a daemon: the registry and the bucket.
type world struct {
	*registry.DB
	bucket *memstore.Bucket
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{DB: registrytest.Open(t, "shop"), bucket: &memstore.Bucket{}}
}

func ref(version string) svc.Ref { return svc.Ref{Project: "shop", Version: version} }

// add creates a version and moves it to a status.
func (w *world) add(t *testing.T, id string, triggers ...svc.Trigger) svc.Ref {
	t.Helper()
	return registrytest.Add(t, w.DB, "shop", id, triggers...).Ref
}

func (w *world) addReady(t *testing.T, id string) svc.Ref {
	t.Helper()
	return w.add(t, id, registrytest.ToReady()...)
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
	return registrytest.Get(t, w.DB, ref(id)).Status
}

// pointer returns the version that the pointer object names, "" without one.
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

// fakeGateway is a gateway without connections.
type fakeGateway struct {
	mu       sync.Mutex
	prod     map[string]string
	held     map[string]chan struct{} // closed by Release
	events   []string
	inflight chan struct{} // DrainProduction waits until it is closed; nil: nothing in flight
	down     error         // of Revive
	machines []string      // calls about machines that admit requests themselves
	settled  chan struct{} // SettleProduction waits until it is closed
}

func newFakeGateway() *fakeGateway {
	g := &fakeGateway{prod: map[string]string{}, held: map[string]chan struct{}{}, settled: make(chan struct{})}
	close(g.settled)
	return g
}

func (g *fakeGateway) note(event string) { g.events = append(g.events, event) }

func (g *fakeGateway) SetProduction(project, version string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.prod[project] != version {
		g.note("production " + version)
	}
	g.prod[project] = version
}

func (g *fakeGateway) Hold(project string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held[project] == nil {
		g.note("hold")
		g.held[project] = make(chan struct{})
	}
}

func (g *fakeGateway) Release(project string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ch := g.held[project]; ch != nil {
		g.note("release")
		close(ch)
		delete(g.held, project)
	}
}

func (g *fakeGateway) Unshare(project string) { g.share("unshare", project) }

func (g *fakeGateway) Share(project string) { g.share("share", project) }

// share notes a call with the production at that time, and whether requests wait.
func (g *fakeGateway) share(event, project string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held[project] != nil {
		event = "held: " + event
	}
	g.machines = append(g.machines, event+" "+g.prod[project])
}

func (g *fakeGateway) SettleProduction(ctx context.Context, project string) error {
	g.share("settle", project)
	select {
	case <-g.settled:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *fakeGateway) DrainProduction(ctx context.Context, _ string) error {
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

func (g *fakeGateway) CutOver(string) svc.CutOver {
	return svc.CutOver{Held: 30 * time.Millisecond, Window: 20 * time.Millisecond}
}

func (g *fakeGateway) Revive(context.Context, svc.Ref) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.down
}

func (g *fakeGateway) CloseWebsockets(ref svc.Ref, role svc.Role, after time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.note("websockets " + ref.Version + " " + string(role) + " " + after.String())
}

func (g *fakeGateway) StatusChanged(ref svc.Ref, status svc.Status) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.note(ref.Version + " " + string(status))
}

// request waits like a request to the production host name and returns the version
// that answers.
func (g *fakeGateway) request(project string) string {
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

func (g *fakeGateway) log() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.events)
}

// results is an Observer.
type results chan string

func (r results) PromoteDone(result string, _ time.Duration) { r <- result }

func (results) CutOverDone(svc.CutOver) {}

func (r results) ReleaseDone(result string, _ time.Duration, _ int) { r <- "release " + result }

// daemon is a Service over a world and a fake gateway.
type daemon struct {
	*promote.Service
	gateway *fakeGateway
	done    results
}

func (w *world) deps(g *fakeGateway, done results) promote.Deps {
	return promote.Deps{
		Projects: w, Versions: w, Promotions: w, Journals: w, Gateway: g, Websockets: g, Routes: g, Runtimes: g,
		Bucket: w.bucket, Logger: slog.New(slog.DiscardHandler), Observer: done,
	}
}

func (w *world) start(t *testing.T, change func(*promote.Deps)) *daemon {
	t.Helper()
	d := &daemon{gateway: newFakeGateway(), done: make(results, 100)}
	d.gateway.SetProduction("shop", w.production(t)) // as at the start
	d.gateway.events = nil
	deps := w.deps(d.gateway, d.done)
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

// promote runs one promotion to its end and returns its record.
func (d *daemon) promote(t *testing.T, w *world, version string) svc.Promotion {
	t.Helper()
	op, err := d.Promote(t.Context(), ref(version), svc.PromoteRequest{})
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

// check asserts the invariants while no promotion runs: one production in the
// registry, the gateway and the bucket; nothing is held, drains or runs.
func (w *world) check(t *testing.T, g *fakeGateway, want string) {
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

// faults wraps a world: it fails calls on demand, and after a crash no call has an
// effect.
type faults struct {
	*world
	mu      sync.Mutex
	left    int // points until the crash; 0: no crash
	crashed bool
	fail    func(call string) error // nil: nothing fails
}

var errCrashed = errors.New("the process has crashed")

// around runs do between two points at which the process may crash.
func (f *faults) around(call string, do func() error) error {
	if f.crash() {
		return errCrashed
	}
	if f.fail != nil {
		if err := f.fail(call); err != nil {
			return err
		}
	}
	err := do()
	if f.crash() {
		return errCrashed
	}
	return err
}

func (f *faults) crash() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left == 0 {
		f.crashed = true
	}
	return f.crashed
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

func (f *faults) FinishPromotion(ctx context.Context, id string, o svc.PromotionOutcome) error {
	return f.around("finish", func() error { return f.world.FinishPromotion(ctx, id, o) })
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

// use makes a daemon use f. A failed write of the pointer is not tried again.
func (f *faults) use(d *promote.Deps) {
	d.PointerLimit = time.Nanosecond
	d.Projects, d.Versions, d.Promotions, d.Journals = f, f, f, f
	d.Bucket = &objstoretest.Hooked{Bucket: f.bucket, Around: func(_ context.Context, op objstoretest.Op, _ string, do func() error) error {
		return f.around(string(op), do)
	}}
}
